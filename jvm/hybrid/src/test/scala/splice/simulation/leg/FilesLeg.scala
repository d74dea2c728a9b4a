// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

import splice.files.internal.enumerator.{FileEnumerator, FileList, FileListEntries, FileStorage, FilesPosition}
import splice.files.internal.errors.FileErrors
import splice.files.internal.options.{OnFileChanged, ReaderOptions}
import splice.files.internal.reader.{BlockReader, FileOpener, FilePolicy}
import splice.files.internal.split.{FileBlock, FileRange, FileSchemas, ListedFile, Packing}
import splice.hybrid.internal.counting.CountPlan
import splice.simulation.planted.Faults
import splice.source._
import splice.source.errors.SpliceException
import splice.source.runtime.{Boundedness, SideLog}
import splice.testkit.internal.simulation.{ArchivedRow, ForgetfulSideLog, SimulatedFile, SimulatedFolder}
import splice.testkit.simulation.{Life, TaskRows, Violation}

/** File leg with the real enumerator, list, packing and checks over a simulated folder.
  *
  * @param plan
  *   plan to count the rows for later legs; None = no count
  * @param skips
  *   true if the leg skips missing and unreadable files
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
    recalls: () => Boolean,
    committed: () => Option[Position]
) extends SimulatedLeg {

  private val root   = SimulatedFileSystem.mount(folder)
  private val policy =
    new FilePolicy(
      if (faults.checksFiles) OnFileChanged.Fail else OnFileChanged.Warn,
      ignoreMissing = skips,
      ignoreCorrupt = skips
    )

  // A list has the option of the start that created the list.
  private var option     = 0
  private var unreadable = Set.empty[String]
  private var removed    = false

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
    life.note(s"${folder.name} has option $option")
  }

  /** True if no file was removed, so that the leg may begin again. */
  def isWhole: Boolean = folder.files.nonEmpty && !removed

  /** Removes a file that the query has read, if the leg skips missing files. */
  def removeRead(log: SideLog, at: FilesPosition): Unit = if (skips) {
    val read = list(log).toSeq.flatMap(_.files.take(at.files).zipWithIndex).collect {
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

  /** Rows of the listed files in a side log. */
  def listed(log: SideLog): Option[Seq[ArchivedRow]] =
    list(log).map(rowsOf)

  /** Modification times of the listed files in a side log. */
  def listedTimes(log: SideLog): Option[Seq[Long]] =
    list(log).map(_.files.map(_.modified))

  /** The list of the current option, if it exists. */
  private def list(log: SideLog): Option[FileList] =
    Iterator.from(0).map(n => if (n == 0) log else log.scope(s"list-$n")).takeWhile(_.keys("files-").nonEmpty)
      .map(new FileListEntries(_).read()).find(_.reader == reader(option))

  private def isListed(log: SideLog): Boolean = list(log).nonEmpty

  private def reader(option: Int) = ReaderOptions(SortedMap("option" -> option.toString))

  override def killed(): Unit = ()

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

  private def rowsOf(list: FileList): Seq[ArchivedRow] = list.files.flatMap { file =>
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
    if (!faults.relistsFiles) new FileEnumerator(new Storage(context.sideLog), limits, context)
    else {
      // The previous list stays in the side log for the oracle, and the enumerator ignores this list.
      val own   = context.copy(sideLog = new ForgetfulSideLog(context.sideLog, _.startsWith("files-")))
      val again = new FileEnumerator(new Storage(own.sideLog), limits, own)
      if (isListed(context.sideLog)) { val _ = again.start(StartPosition.Configured) }
      again
    }

  final private class Storage(log: SideLog) extends FileStorage {

    override def list(context: EnumeratorContext): FileList = {
      life.step(s"${folder.name} is listed")
      if (isListed(log) && !life.isResumed) throw new Violation(s"${folder.name} is listed again")
      val files =
        folder.files.map(f => ListedFile(root + f.path, f.length, f.modified, splittable = true, InternalRow.empty))
      val packing = Packing(maxPartitionBytes, 1L, context.cores)
      new FileList(FileSchemas.empty, packing, files.toIndexedSeq, reader(option))
    }

    override def difference(list: FileList): Option[SpliceException] =
      list.reader.difference(reader(option)).map { case (name, before, now) =>
        FileErrors.readerOptionChanged(name, before, now)
      }

    override def readers(columns: StructType, schemas: FileSchemas): SplitReaderFactory = task =>
      wanted("rows")(reader(task, columns))
  }

  /** Checks that the end of a leg is not requested again after the decision. */
  final private class EndOffsets(inner: SplitEnumerator[FilesPosition]) extends Passing[FilesPosition](inner) {
    override def evidence(at: FilesPosition): Option[Evidence] = inner.evidence(at).map { end =>
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
