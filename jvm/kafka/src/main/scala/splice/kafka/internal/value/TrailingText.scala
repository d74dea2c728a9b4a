// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.value

import java.io.{ByteArrayInputStream, InputStreamReader, StringReader}
import java.nio.charset.StandardCharsets.UTF_8
import javax.xml.stream.{XMLInputFactory, XMLStreamException}

import com.fasterxml.jackson.core._
import com.fasterxml.jackson.core.json.JsonReadFeature

/** Finds text after the first JSON object or XML element of a value. Spark's parsers ignore such text, for
  * example the second object of a value with one object per line.
  */
private[value] object TrailingText {

  /** Returns a function that is true if a value has such text. The function expects values that Spark has parsed. It is
    * used by one thread.
    */
  def of(settings: ValueSettings): Array[Byte] => Boolean = settings.format match {
    case ValueFormat.Json => inJson
    case ValueFormat.Xml  => inXml
    // A line end in a CSV value is a character of a field.
    case _ => _ => false
  }

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

  private def inJson(bytes: Array[Byte]): Boolean = {
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

  // The settings of Spark's parser.
  private lazy val xml: XMLInputFactory = {
    val factory = XMLInputFactory.newInstance()
    factory.setProperty(XMLInputFactory.IS_NAMESPACE_AWARE, false)
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false)
    factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false)
    factory
  }

  // A parser accepts only comments and white space after the first element.
  private def inXml(bytes: Array[Byte]): Boolean = {
    val parser = xml.createXMLStreamReader(new StringReader(new String(bytes, UTF_8)))
    try {
      while (parser.hasNext) { val _ = parser.next() }
      false
    } catch { case _: XMLStreamException => true }
    finally parser.close()
  }
}
