// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.cost

import java.nio.file.{Files, Path}
import java.time.{Clock, Duration, Instant}
import java.util.concurrent.{Callable, Executors}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path => HadoopPath, RemoteIterator}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import splice.bench.{BenchPlan, Median, Queries, Report}
import splice.coordinator.internal.sidelog.HadoopSideLog
import splice.files.FileSource
import splice.files.internal.enumerator._
import splice.files.internal.errors.FileErrors
import splice.files.internal.settings.WatchSettings
import splice.files.internal.split.{FileSchemas, ListedFile, Packing}
import splice.files.internal.watch._
import splice.source.errors.SpliceException
import splice.source.internal.PinnedSession
import splice.source.internal.polling.{PollHealth, Poller}
import splice.source.options.{FailOrWarn, SourceOptions}
import splice.source.runtime.SessionSettings
import splice.source.{EnumeratorContext, Limits, ReadMode, SourceProvider, SplitReaderFactory, StartPosition}

/** Cost of a watched folder with many files on the driver: listings of files of one byte in 1,000 folders, and plans of
  * batches of simulated files.
  */
final class WatchCost(plan: BenchPlan) {

  import WatchCost._

  private val Folders = 1000
  private val batch   = math.min(2000, plan.files / 10)
  private val plans   = plan.rounds * 4
  private val conf    = new Configuration

  def run(): String = {
    val folder = Files.createTempDirectory("bench-watch")
    try {
      val rows = listings(folder.resolve("files")) ++ planning(folder)
      (f"### A watched folder, ${plan.files}%,d files in $Folders%,d folders" +: "" +: Report.lines(
        Seq("case", "ms", "compared with", "ms", "ratio"),
        rows
      )).mkString("\n")
    } finally Queries.delete(folder)
  }

  private def listings(folder: Path): Seq[Seq[String]] = {
    println(s"writing ${plan.files} files of one byte")
    (0 until Folders).foreach { day =>
      val own = Files.createDirectories(folder.resolve(f"day=$day%04d"))
      (day until plan.files by Folders).foreach(i => Files.write(own.resolve(f"part-$i%08d"), Array[Byte]('1')))
    }
    val source = SourceProvider.create(SourceOptions(Map(
      "source"         -> "files",
      "format"         -> "text",
      "discovery"      -> "watch",
      "schema"         -> "value STRING",
      "partitionOrder" -> "day",
      "path"           -> folder.toString
    ))) match {
      case files: FileSource => files
      case other             => throw new IllegalStateException(s"$other is not a folder")
    }
    def lister = new HadoopLister(
      source.settings,
      watch,
      new PinnedSession(SessionSettings.current),
      Clock.systemUTC(),
      None
    )(source.columns)
    def all(listing: FolderListing) = require(listing.listed == plan.files, s"${listing.listed} files are listed")
    val first                       = compared(
      "first listing",
      "bare walk, 8 threads",
      plan.rounds,
      all(lister.list(new KnownFiles, None, isFull = true)),
      require(walk(folder) == plan.files)
    )
    val known = new KnownFiles
    val later = lister
    val empty = heap()
    val found = later.list(known, None, isFull = true)
    println(f"  ${(heap() - empty) / found.files.size}%,d bytes of memory per new file of a listing")
    found.files.foreach(file => known.add(SeenFile(file.path, file.modified, file.size)))
    println(f"  ${known.bytes / known.size}%,d bytes of memory per known file")
    val ordered = compared(
      "listing by partitionOrder",
      "listing of all folders",
      plan.rounds,
      later.list(known, None, isFull = false),
      all(later.list(known, None, isFull = true))
    )
    Seq(first, ordered)
  }

  /** Number of files that Hadoop's file system lists below a folder. */
  private def walk(folder: Path): Long = {
    val fs                        = FileSystem.get(folder.toUri, conf)
    def each[A](path: HadoopPath) = {
      val found: RemoteIterator[_ <: org.apache.hadoop.fs.FileStatus] = fs.listStatusIterator(path)
      Iterator.continually(found).takeWhile(_.hasNext).map(_.next())
    }
    val pool = Executors.newFixedThreadPool(8)
    try {
      val folders = each(new HadoopPath(folder.toUri)).map(_.getPath).toSeq
      pool.invokeAll(folders.map[Callable[Long]](path => () => each(path).count(_.getLen > 0).toLong).asJava)
        .asScala.map(_.get()).sum
    } finally { val _ = pool.shutdownNow() }
  }

  private def planning(folder: Path): Seq[Seq[String]] = {
    val few  = new Planned(1000, folder.resolve("few"))
    val many = new Planned(plan.files, folder.resolve("many"))
    Seq(
      compared(
        f"batch of $batch%,d after ${plan.files}%,d files",
        "after 1,000 files",
        plans,
        many.planNext(),
        few.planNext()
      ),
      compared(
        f"restart after ${plan.files}%,d files",
        "read of its side log",
        plan.rounds,
        many.restart(),
        many.readEntries()
      )
    )
  }

  private def compared(name: String, base: String, times: Int, call: => Any, ofBase: => Any): Seq[String] = {
    val laps = (0 to times).map { _ =>
      val lap = (millis(call), millis(ofBase))
      println(f"  $name%-40s ${lap._1}%,10.1f ms, $base ${lap._2}%,.1f ms")
      lap
    }.tail
    val (own, other) = (Median(laps.map(_._1)), Median(laps.map(_._2)))
    Seq(name, f"$own%,.1f", base, f"$other%,.1f", f"${own / other}%.3f")
  }

  private def heap(): Long = {
    System.gc()
    val runtime = Runtime.getRuntime
    runtime.totalMemory - runtime.freeMemory
  }

  private def millis(body: => Any): Double = {
    val begin = System.nanoTime()
    val _     = body
    (System.nanoTime() - begin) / 1e6
  }

  /** Query that has read a number of files of a simulated folder. */
  final private class Planned(read: Int, folder: Path) {

    private val storage    = new SimulatedFiles(read + batch * (plans + 20), plan.cores)
    private val enumerator = opened
    private var at         = enumerator.start(StartPosition.Configured)
    while (at.files < read) {
      at = enumerator.advance(at, Limits.Limited(files = Some(math.min(10000, read - at.files))))
      enumerator.retain(at)
    }

    private def log = new HadoopSideLog(new HadoopPath(folder.toUri), conf)

    private def opened = new FileEnumerator(
      storage,
      Limits.Limited(files = Some(batch)),
      EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), plan.cores, "bench")
    )

    def planNext(): Unit = {
      val until = next(enumerator)
      require(enumerator.splits(at, until).nonEmpty)
      at = until
    }

    def restart(): Unit = { val _ = next(opened) }

    private def next(of: FileEnumerator): FilesPosition = {
      val until = of.advance(at, of.limits(at))
      require(until.files == at.files + batch, s"$until follows $at")
      until
    }

    def readEntries(): Unit = {
      val own = log
      require(own.keys("").flatMap(own.get).map(_.size).sum > read)
    }
  }
}

private object WatchCost {

  private val watch = WatchSettings(SourceOptions(Map("discovery" -> "watch", "partitionOrder" -> "day")))
    .getOrElse(throw new IllegalStateException("no folder is watched"))

  /** Folder whose files one listing finds. */
  final private class SimulatedFiles(count: Int, cores: Int) extends FileStorage with WatchedStorage {

    override def watched: Option[WatchedStorage] = Some(this)
    override def watch: WatchSettings            = WatchCost.watch
    override def mostKnown: Int                  = Int.MaxValue

    override def policies: WatchPolicies = WatchPolicies(
      FailOrWarn.Fail,
      file => FileErrors.listedFileChanged(file.path, file.previous, file.current, identity),
      FileErrors.lateFiles(_, _, mostKnown, identity)
    )

    override def lister(stored: Option[FileSchemas]): FolderLister = new FolderLister {
      override def schemas: Option[FileSchemas]  = Some(FileSchemas.empty)
      override def exists(name: String): Boolean = false
      override def batch: Option[Long]           = None
      override def waiting: Option[Long]         = None

      override def list(known: KnownFiles, limit: Option[Long], isFull: Boolean): FolderListing =
        FolderListing(
          (0 until count).map { i =>
            ListedFile(
              f"file:/lake/day=${i / 1000}%04d/part-$i%08d",
              100,
              i.toLong,
              splittable = true,
              InternalRow.empty
            )
          },
          count.toLong
        )
    }

    override def segment(
        files: IndexedSeq[ListedFile],
        last: Option[FileList],
        lister: FolderLister,
        context: EnumeratorContext
    ): FileList = new FileList(FileSchemas.empty, Packing(128L << 20, 4L << 20, cores), files)

    override def rejectEmpty(context: EnumeratorContext): Unit = ()

    override def poller(name: String, pause: => Duration, context: EnumeratorContext)(list: => Unit): Poller =
      new Poller {
        override def begin(): Unit      = ()
        override def health: PollHealth = PollHealth()
        override def close(): Unit      = ()
      }

    override def failed(since: Instant, error: Throwable): SpliceException =
      FileErrors.listingsFailed(since, error, "discoveryTimeout")

    override def list(context: EnumeratorContext): FileList = unused()

    override def readers(columns: StructType, schemas: FileSchemas): SplitReaderFactory = unused()

    private def unused() = throw new IllegalStateException("the benchmark reads no rows")
  }
}
