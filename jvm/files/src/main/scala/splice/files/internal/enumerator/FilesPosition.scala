// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode

import splice.files.internal.split.BlockId
import splice.source.Position
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.{Json, VersionedJson}

/** Position in a persisted list of files: `{"files":240,"partly":{"238:0":1200,"239:0":0},"v":1}`.
  *
  * @param files
  *   number of files, counted from the first file, that were read, except the blocks of `partly`
  * @param partly
  *   incomplete blocks of these files, with the number of rows that were read
  * @param list
  *   number of the list, `"list":1`; the JSON omits 0
  */
final private[splice] case class FilesPosition(
    files: Int,
    partly: SortedMap[BlockId, Long] = FilesPosition.NoBlocks,
    list: Int = 0
) extends Position {

  override lazy val json: String = {
    val blocks = Option.when(partly.nonEmpty) {
      "partly" -> Json.compose(partly.iterator.map { case (block, rows) => block.toString -> rows.toString })
    }
    val number = Option.when(list > 0)("list" -> list.toString)
    VersionedJson.write(Seq("files" -> files.toString) ++ number ++ blocks: _*)
  }

  override def precedes(later: Position): Boolean = later match {
    case that: FilesPosition if list != that.list => files == 0 && list < that.list
    case that: FilesPosition                      =>
      files <= that.files && that.partly.rangeUntil(BlockId(files, 0L)).forall { case (block, rows) =>
        partly.get(block).exists(_ <= rows)
      }
    case _ => false
  }

  /** Number of the first file that is not completely read. */
  def firstFile: Int = partly.headOption.fold(files)(_._1.file)

  /** Number of completely read files. */
  def wholeFiles: Int = files - partly.keysIterator.map(_.file).distinct.size
}

private[splice] object FilesPosition {

  private val NoBlocks = SortedMap.empty[BlockId, Long]

  private val What = "The offset of a file source"

  private val Expected = """{"files":<number>,"v":1}, or with "list":<number> and "partly":{"<file>:<byte>":<rows>}"""

  private val Known = Set("files", "list", "partly", "v")

  /** Position before the first file. */
  val Start: FilesPosition = FilesPosition(0)

  /** @throws splice.source.errors.SpliceException if the text has a newer version, belongs to another source, or is corrupt */
  def read(json: String): FilesPosition = {
    def corrupt(why: String) = CheckpointErrors.corrupt(What, s"'$json' is not $why")
    def foreign              = CheckpointErrors.foreign(s"The offset '$json'", Expected)
    val node                 = Json.readObject(json).getOrElse(throw corrupt("a JSON object"))
    VersionedJson.check(node, What)(_ => foreign)
    val fields = Json.fields(node).toMap
    if (!fields.contains("files") || !fields.keySet.subsetOf(Known)) throw foreign
    def number(field: JsonNode) = Option.when(field.isInt)(field.asInt).filter(_ >= 0)
    val position                = for {
      files  <- fields.get("files").flatMap(number)
      list   <- fields.get("list").fold(Option(0))(number)
      partly <- fields.get("partly").fold(Option(NoBlocks))(blocks)
      if partly.keysIterator.forall(_.file < files)
    } yield FilesPosition(files, partly, list)
    position.getOrElse(throw corrupt("a position in a list"))
  }

  /** Parses blocks with their numbers of rows; None if a block or a number is invalid. */
  private def blocks(node: JsonNode): Option[SortedMap[BlockId, Long]] = {
    val entries = Json.fields(node).flatMap { case (key, rows) =>
      BlockId.read(key).filter(_ => rows.isIntegralNumber && rows.canConvertToLong && rows.asLong >= 0).map(_ ->
        rows.asLong)
    }
    Option.when(node.isObject && entries.size == node.size)(SortedMap.from(entries))
  }
}
