// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.split

import java.nio.charset.StandardCharsets.UTF_8

import splice.source.Position
import splice.source.errors.CheckpointErrors
import splice.source.log.SharedStart

/** The first position in the format of Spark's Kafka source: a byte 0, a line with the version, and the offset
  * (KafkaSourceInitialOffsetWriter).
  */
private[splice] object SparkInitialOffset extends SharedStart with Serializable {

  private val Known   = 1
  private val Version = s"v$Known\n"
  private val Any     = "v(\\d{1,9})\n".r

  override def file: String = "0"

  override def write(start: Position): Array[Byte] = 0.toByte +: (Version + start.json).getBytes(UTF_8)

  // Spark 2.1 wrote no version.
  override def read(name: String, content: Array[Byte]): Position = {
    val text = new String(content.drop(1), UTF_8)
    Any.findPrefixMatchOf(text).map(_.group(1).toInt).filter(_ > Known).foreach { version =>
      throw CheckpointErrors.newer(s"The file $name", version, Known)
    }
    PartitionJson.read(text.stripPrefix(Version)).filter(_.values.forall(_ >= 0)).map(KafkaPosition(_)).getOrElse {
      throw CheckpointErrors.foreign(
        s"The file $name",
        "the first offset in the format of Spark's Kafka source: v1, then offsets per topic and partition"
      )
    }
  }
}
