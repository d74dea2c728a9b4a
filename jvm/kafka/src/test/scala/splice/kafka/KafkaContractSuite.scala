// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.SparkSession
import org.scalatest.BeforeAndAfterAll

import splice.kafka.broker.RealLog
import splice.kafka.internal.consumer.PassedBatches
import splice.kafka.internal.options.ClientProperties
import splice.source.{Position, Source}
import splice.testkit.OpenEndedContract
import splice.testkit.internal.broker.SharedKafka

/** Contract tests of the Kafka source with decoded record batches, which the Kafka client of this build permits. */
final class KafkaContractSuite extends KafkaContract {

  test("readers of this build decode batches, except with the new group protocol") {
    assert(PassedBatches.isSupported(client()))
    assert(!PassedBatches.isSupported(client("group.protocol" -> "Consumer")))
  }
}

/** Contract tests with the records of Kafka's client, as for an unsupported version of the client. */
final class KafkaRecordsContractSuite extends KafkaContract {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    sys.props(PassedBatches.Off) = "true"
  }

  override protected def afterAll(): Unit =
    try super.afterAll()
    finally { val _ = sys.props.remove(PassedBatches.Off) }

  test("readers do not decode batches")(assert(!PassedBatches.isSupported(client())))
}

abstract class KafkaContract extends OpenEndedContract with BeforeAndAfterAll {

  protected def client(properties: (String, String)*): ClientProperties =
    ClientProperties(SortedMap(properties: _*), None)

  private lazy val real = new RealLog(SharedKafka.east)

  override protected lazy val spark: SparkSession = SparkSession.builder().master("local[2]").getOrCreate()

  override protected def afterAll(): Unit = spark.stop()

  override protected def world(): World = new World {
    private val topic = KafkaContract.topics.next()
    real.create(topic, 3)
    real.write(topic, 3, 0, 30)

    private val options = Seq("subscribe" -> topic, "startingOffsets" -> "earliest")

    override def source(): Source[_ <: Position] = real.source(options: _*)

    override def unavailable(): Source[_ <: Position] =
      real.source(options :+ ("kafka.bootstrap.servers" -> "localhost:1"): _*)

    override def grow(): Unit = real.write(topic, 3, 30, 45)
  }
}

private object KafkaContract {
  private val topics = Iterator.from(1).map(n => s"contract-$n")
}
