// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

import splice.files.internal.enumerator._
import splice.files.internal.errors.FileErrors
import splice.files.internal.options.ReaderOptions
import splice.files.internal.reader.{BlockReader, FileOpener, FilePolicy}
import splice.files.internal.split.{FileBlock, FileRange, FileSchemas, ListedFile, Packing}
import splice.hybrid.internal.counting.CountPlan
import splice.simulation.planted.Faults
import splice.source._
import splice.source.errors.SpliceException
import splice.source.options.FailOrWarn
import splice.source.runtime.{Boundedness, SideLog}
import splice.testkit.internal.simulation.{ArchivedRow, ForgetfulSideLog, SimulatedFile, SimulatedFolder}
import splice.testkit.simulation.{Life, TaskRows, Violation}

/** File leg with the real enumerator, list, packing and checks over a simulated folder.
  *
  * @param plan
  *   plan to count the rows for later legs; None = no count
  * @param skips
  *   true if the leg skips missing and unreadable files
  * @param watches
  *   true if the folder is watched
  * @param log
  *   side log of the leg
  * @param recalls
  *   true if the hand-over from this leg is decided, so its end must not be requested again
  */
final class FilesLeg(
    val folder: SimulatedFolder,
    limits: Limits.Limited,
    maxPartitionBytes: Long,
    life: Life,
    faults: Faults,
    plan: () => Option[CountPlan],
    skips: Boolean,
    watches: Boolean,
    log: SideLog,
    recalls: () => Boolean,
    committed: () => Option[Position]
) extends SimulatedLeg {

  private val root   = SimulatedFileSystem.mount(folder)
  private val policy =
    new FilePolicy(
      if (faults.checksFiles) FailOrWarn.Fail else FailOrWarn.Warn,
      ignoreMissing = skips,
      ignoreCorrupt = skips
    )

  // A list has the option of the start that created the list.
  private var option     = 0
  private var unreadable = Set.empty[String]
  private var removed    = false

  // Files of segments that were merged.
  private var merged = Seq.empty[ListedFile]

  // Number of files of the list when the last batch was planned.
  private var planned = 0

  private val watched =
    Option.when(watches)(new WatchedFiles(folder.name, life, life.chance.between(1, 3))(found)((files, last, context) =>
      last.fold(create(files, context))(l => new FileList(l.schemas, l.packing, files, l.reader))
    ))

  /** Makes other files unreadable, or none. No log supplies these rows after the hand-over.
    *
    * @param isHarmless
    *   true if the read may miss files
    */
  def hide(isHarmless: Boolean): Unit = unreadable =
    if (!skips || !isHarmless || recalls()) Set.empty
    else folder.files.map(_.path).filter(_ => life.chance.oneIn(6)).toSet

  /** Changes an option of the leg, so that a leg that begins again lists its files again. */
  def change(): Unit = {
    option += 1
    merged = Nil
    life.note(s"${folder.name} has option $option")
  }

  /** True if no file was removed, so that the leg may begin again. */
  def isWhole: Boolean = folder.files.nonEmpty && !removed

  /** Removes a file that the query has read, if the leg skips missing files. */
  def removeRead(at: FilesPosition): Unit = if (skips) {
    val read = list.toSeq.flatMap(_.files.take(at.files).zipWithIndex).collect {
      case (file, n) if !at.partly.keysIterator.exists(_.file == n) => file.path.stripPrefix(root)
    }
    read.find(folder.get(_).nonEmpty).foreach { path =>
      folder.remove(path)
      removed = true
      life.met("a file is removed after its batch")
    }
  }

  override def close(): Unit = SimulatedFileSystem.unmount(root)

  override def source: Source[_ <: Position] = FolderSource

  /** Rows of the listed files. */
  def listed: Option[Seq[ArchivedRow]] = all.map(rowsOf)

  /** Modification times of the listed files. */
  def listedTimes: Option[Seq[Long]] = all.map(_.map(_.modified))

  /** Paths of the listed files. */
  def listedPaths: Set[String] = all.toSeq.flatten.map(_.path.stripPrefix(root)).toSet

  /** Rows that a run reads if the run lists the folder now. */
  def available: Seq[ArchivedRow] =
    listed.getOrElse(Nil) ++ (if (isComplete) Nil else folder.files.flatMap(_.rows))

  /** True if no further file is listed. */
  def isComplete: Boolean = listLog.exists(log => !watches || new FileListEntries(log).isClosed)

  /** True if a watched folder has several segments. */
  def hasSegments: Boolean = watches && listLog.exists(_.keys("files-0").sizeIs > 2)

  /** The side log of the list of the current option, if the list exists. */
  private def listLog: Option[SideLog] =
    Iterator.from(0).map(n => if (n == 0) log else log.scope(s"list-$n")).takeWhile(_.keys("files-").nonEmpty)
      .find(new FileListEntries(_).read().reader == reader(option))

  private def list: Option[FileList] = listLog.map(new FileListEntries(_).read())

  /** Files of the list, with merged segments. */
  private def all: Option[Seq[ListedFile]] = list.map(now => (merged ++ now.files).distinctBy(_.path))

  private def reader(option: Int) = ReaderOptions(SortedMap("option" -> option.toString))

  override def killed(): Unit =
    if (stored > planned) life.met("a crash between a segment and the position")

  private def stored: Int = if (watches) list.fold(0)(_.end.files) else 0

  override def rows(run: String, task: TaskRanges): TaskRows = {
    val rows = reader(task, FilesLeg.Columns)
    new ReaderRows(plan().fold(rows)(_.rows(rows, task)), _.getLong(0))
  }

  private def reader(task: TaskRanges, columns: StructType): SplitReader[InternalRow] = {
    val blocks = task.ranges.flatMap(_.asInstanceOf[FileRange].blocks)
    val opener = new FileOpener(SimulatedFileSystem.configuration, policy)
    new BlockReader[InternalRow](blocks, opener.open(_, read(columns)), identity, policy)
  }

  private def read(columns: StructType)(block: FileBlock): Iterator[InternalRow] = {
    val from = (block.start + SimulatedFile.RowBytes - 1) / SimulatedFile.RowBytes
    val end  = (block.start + block.length + SimulatedFile.RowBytes - 1) / SimulatedFile.RowBytes
    val path = block.path.stripPrefix(root)
    val file = folder.get(path).getOrElse(throw new java.io.FileNotFoundException(block.path))
    val rows = file.rows.slice(from.toInt, end.toInt).iterator.map(row =>
      InternalRow.fromSeq(columns.fieldNames.toSeq.map(cell(row, _)))
    )
    if (unreadable(path)) rows.take(1) ++ Iterator.continually {
      life.met("a file is unreadable for a time")
      throw new java.io.IOException(s"$path is unreadable")
    }
    else rows
  }

  private def cell(row: ArchivedRow, column: String): Any = column match {
    case "id"        => row.id
    case "topic"     => UTF8String.fromString(row.topic)
    case "partition" => row.partition
    case "offset"    => row.offset
    case "timestamp" => row.timestamp * 1000L
  }

  private def rowsOf(files: Seq[ListedFile]): Seq[ArchivedRow] = files.flatMap { file =>
    folder.version(file.path.stripPrefix(root), file.modified, file.size).toSeq.flatMap(_.rows)
  }

  private object FolderSource extends Source[FilesPosition] {
    override def kind: String                        = "files"
    override def boundedness: Boundedness            = Boundedness.Bounded
    override def schema: StructType                  = FilesLeg.Columns
    override def identity: SortedMap[String, String] = SortedMap("path" -> folder.name)
    override def skipSettings: Seq[(String, String)] =
      if (skips) Seq("'ignoreMissingFiles' = 'true'" -> "'ignoreMissingFiles' to 'false'") else Nil
    override def position(json: String): FilesPosition                                  = FilesPosition.read(json)
    override def enumerator(context: EnumeratorContext): SplitEnumerator[FilesPosition] =
      new CommitWatch(new EndOffsets(faults.files(files(context))), folder.name, committed)
  }

  private def files(context: EnumeratorContext): SplitEnumerator[FilesPosition] =
    if (!faults.relistsFiles) new FileEnumerator(Storage, limits, context)
    else {
      // The previous list stays in the side log for the oracle, and the enumerator ignores this list.
      val own   = context.copy(sideLog = new ForgetfulSideLog(context.sideLog, _.startsWith("files-")))
      val again = new FileEnumerator(Storage, limits, own)
      if (list.nonEmpty) { val _ = again.start(StartPosition.Configured) }
      again
    }

  private def found: Seq[ListedFile] = {
    if (isComplete && !life.isResumed && !faults.relistsFiles) throw new Violation(s"${folder.name} is listed again")
    folder.files.map(f => ListedFile(root + f.path, f.length, f.modified, splittable = true, InternalRow.empty))
  }

  private def create(files: Seq[ListedFile], context: EnumeratorContext): FileList =
    new FileList(FileSchemas.empty, Packing(maxPartitionBytes, 1L, context.cores), files.toIndexedSeq, reader(option))

  private object Storage extends FileStorage {

    override def watched: Option[WatchedStorage] = FilesLeg.this.watched

    override def list(context: EnumeratorContext): FileList = {
      life.step(s"${folder.name} is listed")
      create(found, context)
    }

    override def difference(list: FileList): Option[SpliceException] =
      list.reader.difference(reader(option)).map { case (name, before, now) =>
        FileErrors.readerOptionChanged(name, before, now)
      }

    override def readers(columns: StructType, schemas: FileSchemas): SplitReaderFactory = task =>
      wanted("rows")(reader(task, columns))
  }

  /** Checks that the end of a leg is not requested again after the decision. Records the files of a watched folder. */
  final private class EndOffsets(inner: SplitEnumerator[FilesPosition]) extends Passing[FilesPosition](inner) {
    planned = stored

    override def isStale: Boolean = {
      watched.foreach(_.poll())
      super.isStale
    }

    override def splits(from: FilesPosition, until: FilesPosition): Seq[SplitRange] = {
      planned = stored
      super.splits(from, until)
    }

    override def retain(oldest: FilesPosition): Unit = {
      if (watches) merged = all.getOrElse(Nil)
      super.retain(oldest)
    }

    override def evidence(at: FilesPosition): Option[Evidence] = inner.evidence(at).map { end =>
      if (watches && !folder.files.map(_.path).forall(listedPaths))
        life.met("a watched leg ended while files arrive")
      Evidence(end.position, () => wanted("modification times")(end.modificationTimes()))
    }
  }

  private def wanted[A](what: String)(response: => A): A = {
    // A driver that was frozen has not read the decisions of another driver, and may discard its counts.
    val isMixed = life.isResumed || life.situations("a frozen driver writes an entry after another one began")
    if (recalls() && !isMixed) throw new Violation(s"the $what of ${folder.name} are requested again")
    life.step(s"request of the $what of ${folder.name}")
    response
  }
}

object FilesLeg {

  /** Columns of an archived row. */
  val Columns: StructType =
    StructType.fromDDL("id BIGINT, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP")
}
