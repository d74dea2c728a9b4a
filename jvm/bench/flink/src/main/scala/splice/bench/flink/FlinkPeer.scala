// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.flink

import java.util.Properties

import scala.io.StdIn

import org.apache.flink.api.common.eventtime.WatermarkStrategy
import org.apache.flink.configuration.{Configuration, MemorySize, TaskManagerOptions}
import org.apache.flink.connector.kafka.source.KafkaSource
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
import org.apache.kafka.common.serialization.ByteArrayDeserializer

/** Reads the values of topics with Flink's KafkaSource, in a local environment that stays warm between jobs.
  *
  * Each input line `<servers> <topic> <parallelism>` starts one bounded job. The response is the line `read <rows>`.
  */
object FlinkPeer {

  private val settings = new Properties
  settings.put("max.poll.records", "10000")
  settings.put("fetch.max.bytes", (64 << 20).toString)
  settings.put("max.partition.fetch.bytes", (4 << 20).toString)
  settings.put("receive.buffer.bytes", (1 << 20).toString)

  def main(arguments: Array[String]): Unit =
    Iterator.continually(Option(StdIn.readLine())).takeWhile(_.isDefined).flatten.map(_.split(' ')).foreach {
      case Array(servers, topic, parallelism) => println(s"read ${read(servers, topic, parallelism.toInt)}")
      case other                              => sys.error(s"not a job: ${other.mkString(" ")}")
    }

  private def read(servers: String, topic: String, parallelism: Int): Long = {
    val configuration = new Configuration
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(64))
    val environment = StreamExecutionEnvironment.createLocalEnvironment(parallelism, configuration)
    environment.getConfig.enableObjectReuse()
    val source = KafkaSource
      .builder[Array[Byte]]()
      .setBootstrapServers(servers)
      .setTopics(topic)
      .setProperties(settings)
      .setStartingOffsets(OffsetsInitializer.earliest())
      .setBounded(OffsetsInitializer.latest())
      .setDeserializer(KafkaRecordDeserializationSchema.valueOnly(classOf[ByteArrayDeserializer]))
      .build()
    CountingSink.rows.set(0)
    environment.fromSource(source, WatermarkStrategy.noWatermarks[Array[Byte]](), topic).sinkTo(new CountingSink)
    val _ = environment.execute(topic)
    CountingSink.rows.get
  }
}
