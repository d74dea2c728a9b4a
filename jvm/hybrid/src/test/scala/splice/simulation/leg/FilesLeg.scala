// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

import splice.files.internal.enumerator.{FileEnumerator, FileList, FileListEntries, FileStorage, FilesPosition}
import splice.files.internal.options.OnFileChanged
import splice.files.internal.reader.{BlockReader, FileOpener, FilePolicy}
import splice.files.internal.split.{FileBlock, FileRange, FileSchemas, ListedFile, Packing}
import splice.hybrid.internal.counting.CountPlan
import splice.simulation.planted.Faults
import splice.source._
import splice.source.runtime.{Boundedness, SideLog}
import splice.testkit.internal.simulation.{ArchivedRow, ForgetfulSideLog, SimulatedFile, SimulatedFolder}
import splice.testkit.simulation.{Life, TaskRows, Violation}

/** File leg with the real enumerator, list, packing and checks over a simulated folder.
  *
  * @param plan
  *   plan to count the rows for later legs; None = no count
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
    recalls: () => Boolean,
    committed: () => Option[Position]
) extends SimulatedLeg {

  private val root   = SimulatedFileSystem.mount(folder)
  private val policy =
    new FilePolicy(
      if (faults.checksFiles) OnFileChanged.Fail else OnFileChanged.Warn,
      ignoreMissing = false,
      ignoreCorrupt = false
    )

  override def close(): Unit = SimulatedFileSystem.unmount(root)

  override def source: Source[_ <: Position] = FolderSource

  /** Rows of the listed files in a side log. */
  def listed(log: SideLog): Option[Seq[ArchivedRow]] =
    list(log).map(rowsOf)

  /** Modification times of the listed files in a side log. */
  def listedTimes(log: SideLog): Option[Seq[Long]] =
    list(log).map(_.files.map(_.modified))

  private def list(log: SideLog): Option[FileList] = Option.when(isListed(log))(new FileListEntries(log).read())

  private def isListed(log: SideLog): Boolean = log.keys("files-").nonEmpty

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
    val file = folder.get(block.path.stripPrefix(root)).getOrElse(throw new java.io.FileNotFoundException(block.path))
    file.rows.slice(from.toInt, end.toInt).iterator.map(row =>
      InternalRow.fromSeq(columns.fieldNames.toSeq.map(cell(row, _)))
    )
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
    override def kind: String                          = "files"
    override def boundedness: Boundedness              = Boundedness.Bounded
    override def schema: StructType                    = FilesLeg.Columns
    override def identity: SortedMap[String, String]   = SortedMap("path" -> folder.name)
    override def position(json: String): FilesPosition = FilesPosition.read(json)
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
      new FileList(FileSchemas.empty, Packing(maxPartitionBytes, 1L, context.cores), files.toIndexedSeq)
    }

    override def readers(columns: StructType, schemas: FileSchemas): SplitReaderFactory = task =>
      wanted("rows")(reader(task, columns))
  }

  /** Checks that the end of a leg is not requested again after the decision. */
  final private class EndOffsets(inner: SplitEnumerator[FilesPosition]) extends Passing[FilesPosition](inner) {
    override def evidence(at: FilesPosition): Option[Evidence] = inner.evidence(at).map { end =>
      new Evidence {
        override def position: Position                   = end.position
        override def modificationTimes: Option[TimeRange] = wanted("modification times")(end.modificationTimes)
      }
    }
  }

  private def wanted[A](what: String)(response: => A): A = {
    // A driver that was frozen has not read the decisions of another driver.
    if (recalls() && !life.isResumed) throw new Violation(s"the $what of ${folder.name} are requested again")
    life.step(s"request of the $what of ${folder.name}")
    response
  }
}

object FilesLeg {

  /** Columns of an archived row. */
  val Columns: StructType =
    StructType.fromDDL("id BIGINT, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP")
}
