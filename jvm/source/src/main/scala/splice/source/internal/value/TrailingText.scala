// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.value

import java.io.{ByteArrayInputStream, InputStreamReader}
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.core._
import com.fasterxml.jackson.core.json.JsonReadFeature

/** Finds text after the first JSON object of a value. Spark's parser ignores such text, for example the second object of a
  * value with one object per line.
  */
private[value] object TrailingText {

  // Spark has checked the first object with the options of the format, so the factory can accept each syntax.
  private lazy val json: JsonFactory = {
    val unlimited = StreamReadConstraints
      .builder()
      .maxNestingDepth(Int.MaxValue)
      .maxNumberLength(Int.MaxValue)
      .maxStringLength(Int.MaxValue)
      .build()
    val builder = new JsonFactoryBuilder().streamReadConstraints(unlimited)
    JsonReadFeature.values.foldLeft(builder)((all, feature) => all.enable(feature)).build()
  }

  /** True if text follows the first object. Expects a value that Spark has parsed. Any thread may call this method. */
  def follows(bytes: Array[Byte]): Boolean = {
    // Some producers end a value with a zero byte.
    val size = bytes.lastIndexWhere(byte => byte < 0 || byte > ' ') + 1
    try followsObject(json.createParser(bytes, 0, size))
    catch {
      // This parser rejects bytes that are not UTF-8. Spark replaces such bytes.
      case _: JsonProcessingException =>
        followsObject(json.createParser(new InputStreamReader(new ByteArrayInputStream(bytes, 0, size), UTF_8)))
    }
  }

  private def followsObject(parser: JsonParser): Boolean =
    try {
      val _ = parser.nextToken()
      parser.skipChildren()
      try Option(parser.nextToken()).nonEmpty
      catch { case _: JsonProcessingException => true }
    } finally parser.close()
}
