// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.watch

import java.io.{IOException, InterruptedIOException}
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.time.Clock
import java.util.concurrent.ConcurrentHashMap

import scala.util.Try

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import splice.files.internal.errors.FileErrors
import splice.files.internal.listing._
import splice.files.internal.session.FileFormats
import splice.files.internal.settings.{FileSettings, WatchSettings}
import splice.files.internal.split.{FileSchemas, ListedFile}
import splice.source.errors.{SpliceError, SpliceException}
import splice.source.internal.PinnedSession

/** Lists a watched folder with Hadoop's file system: eight folders at a time, one request for each folder, and no Spark
  * job. The selected files and their partition values are those of Spark's file index.
  *
  * @param stored
  *   columns of the files of an earlier run
  * @param columns
  *   columns of the query; evaluated at the first listing without `stored`
  */
final private[splice] class HadoopLister(
    settings: FileSettings,
    watch: WatchSettings,
    session: PinnedSession,
    clock: Clock,
    stored: Option[FileSchemas]
)(columns: => FileSchemas)
    extends FolderLister {

  import HadoopLister._

  private lazy val spark         = SparkSession.active
  private lazy val configuration = FileFormats.configuration(spark, settings.spark.originalMap)
  private lazy val format        = FileFormats.of(settings.kind)
  private lazy val filter        = new FileFilter(settings, configuration)
  private lazy val owners        = FolderOwners(settings, configuration, spark)

  private val responses  = new Responses
  private val splittable = new ConcurrentHashMap[String, Boolean]

  private var found    = stored
  private var greatest = Option.empty[Any]

  // The log of each sink at the last listing, so that an unchanged log is not read again.
  private var taken = Map.empty[Path, TakenSink]
  private var last  = Option.empty[Long]

  override def schemas: Option[FileSchemas] = found

  override def batch: Option[Long] = last

  override def waiting: Option[Long] = responses.waiting

  override def exists(name: String): Boolean = responses.during(guarded {
    val paths = RootPaths.existing(settings.paths, configuration)
    paths.nonEmpty && paths.flatten.forall { root =>
      val folder = RootPaths.folder(root)
      owners.system(folder).exists(new Path(folder, name))
    }
  })

  override def list(known: KnownFiles, limit: Option[Long], isFull: Boolean): FolderListing =
    try guarded(listed(known, limit, isFull))
    catch { case e: IOException => throw failed(new Path(settings.shownPaths.mkString(", ")), e) }

  private def listed(known: KnownFiles, limit: Option[Long], isFull: Boolean): FolderListing = {
    def existing = responses.during(RootPaths.existing(settings.paths, configuration))
    val roots    = RootPaths.outermost(existing.flatten, settings.recursive)
    owners.forget(roots.size)
    roots.foreach(root => rejectTable(RootPaths.folder(root)))
    val check   = new FileCheck(known, limit, watch.minAge, clock.millis(), filter)(fileOf)
    val walk    = new FolderWalk(owners, settings.recursive, check, responses)(isVisited(isFull))
    val visited = walk(roots)
    // A path that no longer exists is an error, and a folder of a pattern is not.
    if (visited.exists(folder => folder.isTop && folder.isGone)) { val _ = existing }
    // A table is rejected as in one listing of the files.
    if (settings.recursive) visited.filter(_.fresh.nonEmpty).foreach(folder => rejectTable(folder.path))
    val sinks  = visited.flatMap(_.sink).distinct
    val tops   = roots.map(_.getPath).toSet
    val before = taken.filter { case (root, sink) => sinks.contains(root) && sink.tops == tops }
    // The log of a folder that the options do not select may be damaged.
    val (damaged, read) = sinks.partitionMap { root =>
      Try(responses.during(owners.sinkAfter(root, before.get(root).map(_.batch)))).toEither.left.map(root -> _)
    }
    val inSink = read.flatten.map { sink =>
      val files = sink.committed.values.filter(file => RootPaths.upwards(file.getPath).exists(tops))
      sink -> ofSink(files.toSeq, tops, known, limit, check, walk)
    }
    val same      = before -- inSink.map(_._1.path)
    val listing   = selected(visited ++ inSink.flatMap(_._2) ++ same.values.flatMap(_.folders), roots)
    val partition = found.fold(new StructType)(_.partition)
    damaged.find { case (root, _) =>
      visited.exists(folder => folder.sink.contains(root) && isSelected(folder, partition))
    }.foreach { case (_, error) => throw error }
    taken = same ++ inSink.flatMap { case (sink, folders) =>
      val isWhole = watch.endWhen.nonEmpty && hasAll(sink, listing, known, limit, tops)
      sink.batch.map(batch => sink.path -> TakenSink(batch, tops, folders.map(_.counts), isWhole))
    }
    last = if (sinks.sizeIs == 1) taken.get(sinks.head).filter(_.isWhole).map(_.batch) else None
    listing
  }

  /** True if the listings have all files of a sink. */
  private def hasAll(
      sink: SinkFolder,
      listing: FolderListing,
      known: KnownFiles,
      limit: Option[Long],
      tops: Set[Path]
  ): Boolean = {
    val fresh                       = listing.files.iterator.map(_.path).toSet
    def isForgotten(of: FileStatus) =
      limit.exists(of.getModificationTime < _) && filter.accepts(of) && RootPaths.upwards(of.getPath).exists(tops)
    sink.committed.values.filter(_.getLen > 0).forall { file =>
      val path = RootPaths.text(file.getPath)
      fresh(path) || known.contains(path) || isForgotten(file)
    }
  }

  /** New files in the log of a sink. The times in the log may differ from the times in the storage, for example after a
    * copy of the folder, so only files that are not known are listed.
    */
  private def ofSink(
      files: Seq[FileStatus],
      tops: Set[Path],
      known: KnownFiles,
      limit: Option[Long],
      check: FileCheck,
      walk: FolderWalk
  ): Seq[VisitedFolder] = {
    val (fresh, before) = files.partition { file =>
      !limit.exists(file.getModificationTime < _) && !known.contains(RootPaths.text(file.getPath))
    }
    val folders                                   = fresh.groupBy(_.getPath.getParent)
    val inStorage                                 = walk.files(folders.keys.toSeq)
    def isTop(folder: Path, own: Seq[FileStatus]) = tops(folder) || own.forall(file => tops(file.getPath))
    val checked                                   = folders.toSeq.map { case (folder, own) =>
      // A deleted committed file stays in the list, so its task reports a missing file.
      val current = own.iterator.map(file => inStorage.getOrElse(file.getPath, file))
      check.folder(folder, isTop(folder, own), current, isCommitted = true)
    }
    checked ++ before.filter(filter.accepts).groupBy(_.getPath.getParent).map { case (folder, own) =>
      val old =
        own.count(file => limit.exists(file.getModificationTime < _) && !known.contains(RootPaths.text(file.getPath)))
      VisitedFolder(folder, isTop(folder, own), listed = own.size, old = old)
    }
  }

  private def rejectTable(folder: Path): Unit = responses.during(owners.rejectTable(folder))

  private def guarded[A](body: => A): A = session.run(settings.users.guarded(body))

  private def fileOf(path: String, file: FileStatus): ListedFile = ListedFile(
    path,
    file.getLen,
    file.getModificationTime,
    isSplittable(file.getPath),
    InternalRow.empty,
    FileListing.homes(file)
  )

  // Formats and codecs depend on the suffixes of the name.
  private def isSplittable(file: Path): Boolean = {
    if (splittable.size > Suffixes) splittable.clear()
    splittable.computeIfAbsent(
      file.getName.dropWhile(_ != '.'),
      _ => format.isSplitable(spark, settings.spark, file)
    )
  }

  private def isVisited(isFull: Boolean): Path => Boolean = (for {
    column  <- watch.partitionOrder if !isFull
    schemas <- found
    least   <- greatest
    order   <- PartitionOrder.of(column, schemas.partition)
  } yield (folder: Path) => order.isAtLeast(folder, least)).getOrElse(_ => true)

  /** New files in the folders that the options select, with the values of their folders. */
  private def selected(folders: Seq[VisitedFolder], roots: Seq[FileStatus]): FolderListing = {
    // The types of the first files depend on all folders, as in one listing of the files, and so does the order.
    val needsOrder                       = watch.partitionOrder.nonEmpty && greatest.isEmpty
    def isExample(folder: VisitedFolder) =
      folder.example.nonEmpty && (found.isEmpty || needsOrder && folder.listed > 0)
    val relevant = folders.filter(folder => folder.fresh.nonEmpty || isExample(folder))
    val values   = FolderValues.of(settings, roots, relevant, found.map(_.rows).getOrElse(columns.rows))
    val schemas  = found.getOrElse(
      FileSchemas(settings.schema.fold(columns.data)(FileListing.without(_, values.columns)), values.columns)
    )
    val (taken, left) = relevant.partitionMap { folder =>
      if (settings.recursive) Left(folder -> InternalRow.empty)
      else
        values.of(folder.path, schemas.partition) match {
          case Some(row)                                         => Left(folder -> row)
          case None if schemas.partition.isEmpty && folder.isTop => Left(folder -> InternalRow.empty)
          case None                                              => Right(folder)
        }
    }
    PartitionOrder.index(watch.partitionOrder, schemas.partition).foreach { index =>
      val kind = schemas.partition(index).dataType
      val rows = taken.collect { case (folder, row) if folder.listed > 0 && !row.isNullAt(index) => row }
      val all  = rows.map(_.get(index, kind)) ++ greatest
      greatest = all.maxOption(PartitionOrder.ordering(kind))
    }
    val files = taken.flatMap { case (folder, row) => folder.fresh.map(_.copy(values = row)) }
    // Without a file of the list, the folders of its files are not known.
    if (files.nonEmpty) found = Some(schemas)
    val ignored = left.flatMap(_.fresh.map(_.path))
    val in      = folders.filter(isSelected(_, schemas.partition))
    FolderListing(
      ListedFile.sorted(files, settings.order),
      in.iterator.map(_.listed.toLong).sum,
      in.iterator.map(_.old.toLong).sum,
      in.iterator.map(_.young.toLong).sum,
      in.iterator.map(_.youngBytes).sum,
      in.flatMap(_.newest).maxOption,
      folders.flatMap(_.changed),
      in.flatMap(_.ahead).reduceOption((a, b) => (a._1 + b._1, a._2)).map { case (n, path) =>
        n -> RootPaths.text(path)
      },
      ignored.headOption.map(ignored.size -> _)
    )
  }

  /** True if the options select the files of a folder. */
  private def isSelected(folder: VisitedFolder, partition: StructType): Boolean =
    settings.recursive || (if (partition.isEmpty) folder.isTop else PartitionOrder.hasColumns(folder.path, partition))
}

private[files] object HadoopLister {

  /** Sink of a listing.
    *
    * @param tops
    *   folders and files of the paths at the listing
    * @param folders
    *   numbers of its files
    * @param isWhole
    *   true if the listings have all its files
    */
  final private case class TakenSink(batch: Long, tops: Set[Path], folders: Seq[VisitedFolder], isWhole: Boolean)

  // More names than the names of formats and codecs.
  private val Suffixes = 1000

  /** Error of a folder that cannot be listed. */
  def failed(folder: Path, error: Throwable): Exception = error match {
    case e: SpliceException                                                   => e
    case e: InterruptedException                                              => e
    case e: ClosedByInterruptException                                        => e
    case e: InterruptedIOException if !e.isInstanceOf[SocketTimeoutException] => e
    case e => FileErrors.listingFailed(folder.toString, SpliceError.text(e), e)
  }
}
