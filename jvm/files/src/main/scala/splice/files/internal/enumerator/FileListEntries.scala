// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import scala.collection.immutable.SortedMap
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, StructType}

import splice.files.internal.options.ReaderOptions
import splice.files.internal.split.{BlockHome, FileSchemas, ListedFile, Packing}
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.internal.entries.{Json, NumberedEntries, SingleEntry, VersionedEntry}
import splice.source.runtime.SideLog

/** Side-log entries of a list. The segments `files-<first>` have the number of their first file in the name. The
  * entry `files-end` closes the list.
  *
  * A segment has one line for all its files, then one line per file. The first line has the values of folders, host
  * names and the common part of all paths.
  */
final private[splice] class FileListEntries(log: SideLog) {

  import FileListEntries._

  private val segments = new NumberedEntries(log, Prefix)(identity)

  private val end = new SingleEntry(log, EndKey)(_.long("files").toInt)

  /** True if the end of the list is persisted. */
  def isClosed: Boolean = end.exists

  /** Persists the first segment, unless a segment exists or the list is closed. */
  def create(list: => FileList): Unit = if (!isClosed) { val _ = segments.getOrCreate(0)(write(list)) }

  /** True if a segment or the end is persisted. */
  def exists: Boolean = segments.numbers.nonEmpty || isClosed

  /** Persists the end of the list, unless it exists.
    *
    * @param files
    *   number of files of all segments
    */
  def close(files: => Int): Unit = end.create(VersionedEntry.write("files" -> Json.number(files.toLong)))

  /** Number of files of a closed list. Reads no segment.
    *
    * @throws splice.source.errors.SpliceException
    *   if the list is not closed, or the entry is corrupt or has a newer version
    */
  def size: Int = end.required

  /** Reads the files of all segments.
    *
    * @throws splice.source.errors.SpliceException
    *   if a segment is missing or corrupt, or has a newer version
    */
  def read(): FileList = segments.numbers.toSeq.drop(1).foldLeft(FileListEntries.read(segments(0))) { (list, number) =>
    val entry = segments(number)
    val next  = FileListEntries.read(entry)
    if (number != list.files.size) entry.corrupt(s"the first file is not number ${list.files.size}")
    if (settings(next) != settings(list))
      entry.corrupt("the first line differs from the first line of the first segment")
    new FileList(list.schemas, list.packing, list.files ++ next.files, list.reader, batch = list.batch)
  }
}

private[splice] object FileListEntries {

  private val Prefix = "files"

  private val EndKey = "files-end"

  /** Error for an end that does not match the segments. */
  def wrongSize(expected: Int, count: Int): SpliceException =
    CheckpointErrors.corrupt(s"Side-log entry $EndKey", s"the list has $count files instead of $expected")

  private def settings(list: FileList): (FileSchemas, Packing, ReaderOptions) =
    (list.schemas, list.packing, list.reader)

  /** Writes a segment as lines. */
  def write(list: FileList): Seq[String] = {
    val root        = sharedFolder(list.files.map(_.path))
    val values      = list.files.map(_.values).distinct
    val hosts       = list.files.flatMap(_.homes).flatMap(_.hosts).distinct
    val valueNumber = values.zipWithIndex.toMap
    val hostNumber  = hosts.zipWithIndex.toMap
    val options     = list.reader.values.toSeq.map { case (key, value) => key -> Json.text(value) }
    val head        = Seq(
      "data"              -> Json.text(list.schemas.data.json),
      "partition"         -> Json.text(list.schemas.partition.json),
      "maxPartitionBytes" -> Json.number(list.packing.maxPartitionBytes),
      "openCostInBytes"   -> Json.number(list.packing.openCostInBytes),
      "minPartitions"     -> Json.number(list.packing.minPartitions.toLong),
      "root"              -> Json.text(root),
      "values"            -> Json.array(values.map(PartitionValues.write(_, list.schemas.partition))),
      "hosts"             -> Json.array(hosts.map(Json.text))
    ) ++ Option.when(options.nonEmpty)("options" -> Json.obj(options: _*)) ++
      list.batch.map("batch" -> Json.number(_))
    def more(file: ListedFile): Option[JsonNode] = Option.when(file.homes.nonEmpty) {
      Json.obj("homes" -> Json.array(file.homes.map { home =>
        Json.array((home.start +: home.length +: home.hosts.map(hostNumber(_).toLong)).map(Json.number))
      }))
    }
    VersionedEntry.write(
      head,
      list.files.map { file =>
        Json.write(
          Json.array(
            Seq(
              Json.text(file.path.drop(root.length)),
              Json.number(file.size),
              Json.number(file.modified),
              Json.bool(file.splittable),
              Json.number(valueNumber(file.values).toLong)
            ) ++ more(file)
          )
        )
      }
    )
  }

  private def read(entry: VersionedEntry): FileList = {
    val schemas = FileSchemas(schema(entry, "data"), schema(entry, "partition"))
    val packing =
      Packing(entry.long("maxPartitionBytes"), entry.long("openCostInBytes"), entry.long("minPartitions").toInt)
    val values  = Json.items(entry("values")).map(PartitionValues.read(_, schemas.partition)).toIndexedSeq
    val hosts   = Json.items(entry("hosts")).map(_.asText).toIndexedSeq
    val root    = entry.text("root")
    val options = entry.find("options").toSeq.flatMap(Json.fields).map { case (key, value) => key -> value.asText }
    val files   = entry.lines.iterator.map { line =>
      Json.read(line).flatMap(file(_, root, values, hosts)).getOrElse(entry.corrupt(s"'$line' is not a file"))
    }
    val batch = entry.find("batch").map(_.asLong)
    new FileList(schemas, packing, files.toIndexedSeq, ReaderOptions(SortedMap.from(options)), batch = batch)
  }

  /** Parses the file of a line. The optional last item is an object whose unknown fields are ignored. */
  private def file(
      line: JsonNode,
      root: String,
      values: IndexedSeq[InternalRow],
      hosts: IndexedSeq[String]
  ): Option[ListedFile] =
    Json.items(line) match {
      case Seq(path, size, modified, splittable, number, more @ _*) =>
        val homes = more.headOption.flatMap(Json.field(_, "homes")).toSeq.flatMap(Json.items).map { node =>
          val home = Json.items(node)
          BlockHome(home.head.asLong, home(1).asLong, home.drop(2).map(h => hosts(h.asInt)))
        }
        values.lift(number.asInt(-1)).map { row =>
          ListedFile(root + path.asText, size.asLong, modified.asLong, splittable.asBoolean, row, homes)
        }
      case _ => None
    }

  private def schema(entry: VersionedEntry, field: String): StructType =
    Try(DataType.fromJson(entry.text(field))).toOption
      .collect { case s: StructType => s }
      .getOrElse(entry.corrupt(s"'$field' is not a schema"))

  private def sharedFolder(paths: Seq[String]): String =
    if (paths.isEmpty) ""
    else {
      val (least, greatest) = (paths.min, paths.max)
      val shared            = least.iterator.zip(greatest).takeWhile { case (a, b) => a == b }.size
      least.take(least.lastIndexOf("/", shared - 1) + 1)
    }
}
