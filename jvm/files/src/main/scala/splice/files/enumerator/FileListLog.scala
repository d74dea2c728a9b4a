// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, StructType}

import splice.files.split.{BlockHome, FileSchemas, ListedFile, Packing}
import splice.source.{CheckpointErrors, Json}

/** The list as the side log holds it: one line about all files, then one line per file.
  *
  * Folder values and host names are written once, in the first line, and paths without the part that all of them share.
  */
private[splice] object FileListLog {

  /** The key of the entry. */
  val Key = "files"

  private val Version = 1

  private val What = s"The side-log entry '$Key' of a file source"

  def write(list: FileList): Seq[String] = {
    val root        = sharedFolder(list.files.map(_.path))
    val values      = list.files.map(_.values).distinct
    val hosts       = list.files.flatMap(_.homes).flatMap(_.hosts).distinct
    val valueNumber = values.zipWithIndex.toMap
    val hostNumber  = hosts.zipWithIndex.toMap
    val splitBy     = list.splitBy.map { case (option, value) => "splitBy" -> Json.obj(option -> Json.bool(value)) }
    val head        = Json.obj(Seq(
      "v"                 -> Json.number(Version.toLong),
      "data"              -> Json.text(list.schemas.data.json),
      "partition"         -> Json.text(list.schemas.partition.json),
      "maxPartitionBytes" -> Json.number(list.packing.maxPartitionBytes),
      "openCostInBytes"   -> Json.number(list.packing.openCostInBytes),
      "minPartitions"     -> Json.number(list.packing.minPartitions.toLong),
      "root"              -> Json.text(root),
      "values"            -> Json.array(values.map(PartitionValues.write(_, list.schemas.partition))),
      "hosts"             -> Json.array(hosts.map(Json.text))
    ) ++ splitBy: _*)
    Json.write(head) +: list.files.map { file =>
      val homes = file.homes.map(h => numbers(h.start +: h.length +: h.hosts.map(hostNumber(_).toLong)))
      Json.write(
        Json.array(
          Seq(
            Json.text(file.path.drop(root.length)),
            Json.number(file.size),
            Json.number(file.modified),
            Json.bool(file.splittable),
            Json.number(valueNumber(file.values).toLong)
          ) ++ Option.when(homes.nonEmpty)(Json.array(homes))
        )
      )
    }
  }

  /** @throws splice.source.SpliceException when the lines are of a newer version or damaged */
  def read(lines: Seq[String]): FileList = {
    val parsed = lines.iterator.map(line => Json.read(line).getOrElse(corrupt(s"'$line' is not JSON")))
    if (!parsed.hasNext) corrupt("it is empty")
    val head    = parsed.next()
    val version = Json.field(head, "v").fold(0)(_.asInt)
    if (version > Version) throw CheckpointErrors.newer(What, version, Version)
    def field(name: String) = Json.field(head, name).getOrElse(corrupt(s"'$name' is missing"))
    val schemas             = FileSchemas(schema(field("data")), schema(field("partition")))
    val packing             =
      Packing(field("maxPartitionBytes").asLong, field("openCostInBytes").asLong, field("minPartitions").asInt)
    val values  = Json.items(field("values")).map(PartitionValues.read(_, schemas.partition)).toIndexedSeq
    val hosts   = Json.items(field("hosts")).map(_.asText).toIndexedSeq
    val root    = field("root").asText
    val splitBy =
      Json.field(head, "splitBy").flatMap(Json.fields(_).headOption).map { case (k, v) => k -> v.asBoolean }
    new FileList(schemas, packing, parsed.map(file(_, root, values, hosts)).toIndexedSeq, splitBy)
  }

  private def file(
      line: JsonNode,
      root: String,
      values: IndexedSeq[InternalRow],
      hosts: IndexedSeq[String]
  ): ListedFile =
    Json.items(line) match {
      case Seq(path, size, modified, splittable, number, more @ _*) if values.isDefinedAt(number.asInt(-1)) =>
        val homes = more.headOption.toSeq.flatMap(Json.items).map(Json.items).map { home =>
          BlockHome(home.head.asLong, home(1).asLong, home.drop(2).map(h => hosts(h.asInt)))
        }
        ListedFile(root + path.asText, size.asLong, modified.asLong, splittable.asBoolean, values(number.asInt), homes)
      case _ => corrupt(s"'$line' is not a file")
    }

  private def schema(node: JsonNode): StructType =
    Try(
      DataType.fromJson(node.asText)
    ).toOption.collect { case s: StructType => s }.getOrElse(corrupt(s"'$node' is no schema"))

  private def sharedFolder(paths: Seq[String]): String =
    if (paths.isEmpty) ""
    else {
      val (least, greatest) = (paths.min, paths.max)
      val shared            = least.iterator.zip(greatest).takeWhile { case (a, b) => a == b }.size
      least.take(least.lastIndexOf("/", shared - 1) + 1)
    }

  private def numbers(values: Seq[Long]): JsonNode = Json.array(values.map(Json.number))

  private def corrupt(why: String): Nothing = throw CheckpointErrors.corrupt(What, why)
}
