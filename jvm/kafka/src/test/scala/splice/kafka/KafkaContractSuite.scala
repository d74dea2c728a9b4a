// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import org.apache.spark.sql.SparkSession
import org.scalatest.BeforeAndAfterAll

import splice.source.{Position, Source}
import splice.testkit.{KafkaBroker, SourceContract}

/** The Kafka source does what every source must. */
final class KafkaContractSuite extends SourceContract with BeforeAndAfterAll {

  private lazy val broker = KafkaBroker.start()
  private lazy val real   = new RealLog(broker)

  override protected lazy val spark: SparkSession = SparkSession.builder().master("local[2]").getOrCreate()

  override protected def afterAll(): Unit = {
    spark.stop()
    broker.close()
  }

  private val topics = Iterator.from(1).map(n => s"contract-$n")

  override protected def world(): World = new World {
    private val topic = topics.next()
    real.create(topic, 3)
    real.write(topic, 3, 0, 30)

    private val options = Seq("subscribe" -> topic, "startingOffsets" -> "earliest")

    override def source(): Source[_ <: Position] = real.source(options: _*)

    override def unavailable(): Source[_ <: Position] =
      real.source(options :+ ("kafka.bootstrap.servers" -> "localhost:1"): _*)

    override def grow(): Unit = real.write(topic, 3, 30, 45)
  }
}
