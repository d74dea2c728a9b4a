// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.collection.mutable
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, StructType}

import splice.files.internal.options.ReaderOptions
import splice.files.internal.split.{BlockHome, FileSchemas, ListedFile, Packing}
import splice.files.internal.watch.{SeenEntries, SeenFile}
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.internal.entries.{Json, NumberedEntries, SingleEntry, VersionedEntry}
import splice.source.runtime.SideLog

/** Side-log entries of a list. The segments `files-<first>` have the number of their first file in the name. The
  * entry `files-end` closes the list. The list of a watched folder has the entry `watch`, and [[SeenEntries]] replace
  * segments that no batch needs. A segment without files is the last one of such a list: of two drivers, one stores
  * further files or the other one ends the list.
  *
  * A segment has one line for all its files, then one line per file. The first line has the values of folders, host
  * names and the common part of all paths.
  */
final private[splice] class FileListEntries(log: SideLog) {

  import FileListEntries._

  private val segments = new NumberedEntries(log, Prefix)(identity)

  private val end       = new SingleEntry(log, EndKey)(_.long("files").toInt)
  private val watch     = new SingleEntry(log, WatchKey)(identity)
  private lazy val seen = new SeenEntries(log)

  // The side log reads an entry at each access.
  private var closed  = Option.empty[Int]
  private var watched = false

  // The last segments that a batch needed, by the number of their first file.
  private val loaded = mutable.LinkedHashMap.empty[Int, FileList]
  private val sizes  = mutable.Map.empty[Int, Long]

  /** True if the end of the list is persisted. */
  def isClosed: Boolean = {
    if (closed.isEmpty) closed = end.find
    if (closed.isEmpty && isWatched) closed = last.filter(_.files.isEmpty).map(_.first)
    closed.nonEmpty
  }

  /** True if the folder of the list is watched. */
  def isWatched: Boolean = {
    if (!watched) watched = watch.exists
    watched
  }

  /** Notes that the folder of the list is watched. */
  def beginWatch(): Unit = watch.create(VersionedEntry.write())

  /** Persists the first segment, unless a segment exists or the list is closed. */
  def create(list: => FileList): Unit = if (!isClosed) { val _ = segments.getOrCreate(0)(write(list)) }

  /** Persists the next segment, and returns the segment that is durable: another driver may have stored other files. */
  def append(list: FileList): FileList = {
    val number = stored
    kept(number, FileListEntries.read(segments.getOrCreate(number)(write(list)), number))
  }

  /** True if the list is persisted, completely or in part. */
  def exists: Boolean = segments.numbers.nonEmpty || isClosed || isWatched

  /** Persists the end of the list, unless it exists.
    *
    * @param files
    *   number of files of all segments
    */
  def close(files: => Int): Unit = end.create(VersionedEntry.write("files" -> Json.number(files.toLong)))

  /** Number of files of the list. Reads no segment of a closed list.
    *
    * @throws splice.source.errors.SpliceException
    *   if the list is not closed and not watched, or an entry is corrupt or has a newer version
    */
  def size: Int = if (isClosed) closed.getOrElse(0) else if (isWatched) stored else end.required

  /** Number of files in the segments, and in the segments that were merged. */
  def stored: Int = numbers.lastOption.fold(merged)(last => last + segment(last).files.size)

  /** Number of files in the segments, and of merged files that are not forgotten. */
  def remembered: Int = stored - older.fold(0)(_.forgotten.toInt)

  /** Last segment; None if the list has no segment. All segments have the same columns and settings. */
  def last: Option[FileList] = numbers.lastOption.map(segment)

  /** Number of files in the segments that were merged. */
  def merged: Int                        = older.fold(0)(_.files)
  private def older: Option[SeenEntries] = Option.when(isWatched)(seen)

  private def numbers: SortedSet[Int] = segments.numbers.rangeFrom(merged)

  private def segment(number: Int): FileList =
    loaded.get(number).fold(kept(number, FileListEntries.read(segments(number), number))) { list =>
      // The order of the map is the order of use.
      loaded -= number
      loaded += number -> list
      list
    }

  private def kept(number: Int, list: FileList): FileList = {
    loaded += number -> list
    sizes(number) = list.files.iterator.map(_.size).sum
    while (loaded.size > 1 && loaded.valuesIterator.map(_.files.size).sum > Kept) loaded -= loaded.head._1
    list
  }

  /** Files of the segments with the files `from` to `until`, and possibly further files.
    *
    * @throws splice.source.errors.SpliceException
    *   if a segment is missing or corrupt, or has a newer version
    */
  def read(from: Int = 0, until: Int = Int.MaxValue): FileList = {
    val all = numbers
    // A list that is not watched has a first segment.
    if (all.headOption.forall(_ != merged) && (all.nonEmpty || !isWatched)) { val _ = segments(merged) }
    val first  = all.rangeTo(from).lastOption.orElse(all.headOption)
    val needed = first.fold(all)(all.rangeFrom(_)).takeWhile(number => number < until || first.contains(number))
    val lists  = needed.toSeq.map(segment)
    lists.drop(1).foldLeft(lists.headOption.getOrElse(FileListEntries.empty(merged))) { (list, next) =>
      val expected = list.first + list.files.size
      if (next.first != expected) segments(next.first).corrupt(s"the first file is not number $expected")
      if (settings(next) != settings(list))
        segments(next.first).corrupt("the first line differs from the first line of the first segment")
      list.and(next)
    }
  }

  /** Bytes of all segments that begin at file `from` or later. */
  def bytes(from: Int): Long = numbers.rangeFrom(from).iterator.map { number =>
    if (!sizes.contains(number)) { val _ = segment(number) }
    sizes(number)
  }.sum

  /** Merges segments that only files before `oldest` need. The last segment stays, because it has the columns.
    *
    * @param limit
    *   time before which files are forgotten
    */
  def merge(oldest: Int, limit: Option[Long]): Unit = {
    val all       = numbers.toSeq
    val mergeable = all.zip(all.drop(1)).takeWhile(_._2 <= oldest).map(_._1)
    val size      = all.lift(mergeable.size).fold(0)(_ - all.head)
    if (mergeable.sizeIs >= Least || size >= Kept) {
      val group = mergeable.take(2 * Least)
      val files = group.flatMap(segment(_).files).map(file => SeenFile(file.path, file.modified, file.size))
      val _     = seen.add(files, limit)
    }
    val replaced = segments.numbers.rangeUntil(merged).toSeq
    segments.purge(replaced)
    loaded --= replaced
    sizes --= replaced
  }

  /** Calls `receive` for each file that is not forgotten, and returns the limit and the number of forgotten files. */
  def files(receive: SeenFile => Unit): (Option[Long], Long) = {
    val limit                      = older.flatMap(_.limit)
    var forgotten                  = older.fold(0L)(_.forgotten)
    def pass(file: SeenFile): Unit = if (limit.exists(file.modified < _)) forgotten += 1 else receive(file)
    older.foreach(_.foreach(pass))
    numbers.foreach(segment(_).files.foreach(file => pass(SeenFile(file.path, file.modified, file.size))))
    (limit, forgotten)
  }

  /** Least and greatest modification time of all files; None if there is no file. */
  def modified: Option[(Long, Long)] = {
    val times = numbers.toSeq.flatMap(segment(_).range) ++ older.flatMap(_.modified)
    times.reduceOption((a, b) => (math.min(a._1, b._1), math.max(a._2, b._2)))
  }
}

private[splice] object FileListEntries {

  private val Prefix   = "files"
  private val EndKey   = "files-end"
  private val WatchKey = "watch"

  // Number of files in memory, besides the last segment that was used. A segment has at most 10,000 files.
  private val Kept = 20000

  // Fewer segments with fewer files than in memory are not worth another entry.
  private val Least = 16

  private def empty(first: Int): FileList =
    new FileList(FileSchemas.empty, Packing(1, 0, 1), IndexedSeq.empty, first = first)

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

  private def read(entry: VersionedEntry, first: Int): FileList = {
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
    new FileList(
      schemas,
      packing,
      files.toIndexedSeq,
      ReaderOptions(SortedMap.from(options)),
      batch = batch,
      first = first
    )
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
