// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.SparkSession
import org.scalatest.BeforeAndAfterAll

import splice.kafka.dynamic.life.cluster.{LifeCluster, LifeDocument, LifeDocuments, LifeFault}
import splice.source.{Position, Source}
import splice.testkit.OpenEndedContract

/** Contract tests of the dynamic Kafka source with two streams on three simulated clusters. */
final class DynamicContractSuite extends OpenEndedContract with BeforeAndAfterAll {

  override protected lazy val spark: SparkSession = SparkSession.builder().master("local[2]").getOrCreate()

  override protected def afterAll(): Unit = spark.stop()

  override protected def world(): World = new World {

    private val clusters  = Seq("east", "west", "north").map(id => id -> new LifeCluster(id)).toMap
    private val documents = new LifeDocuments(LifeDocument(
      1,
      SortedMap.from(clusters.keys.map(id => id -> id)),
      SortedMap(
        "orders"  -> LifeDocument.stream("orders", "east" -> "orders", "west" -> "orders", "west" -> "late"),
        "returns" -> LifeDocument.stream("returns", "north" -> "returns")
      )
    ))
    private val topics = Seq("east" -> "orders", "west" -> "orders", "west" -> "late", "north" -> "returns")

    topics.foreach { case (cluster, topic) => clusters(cluster).create(topic, 2) }
    grow()

    override def source(): Source[_ <: Position] = new LifeSource(Map.empty, clusters, documents)

    override def unavailable(): Source[_ <: Position] = {
      clusters.values.foreach(_.faults.set(LifeFault.Away))
      documents.isUnavailable = true
      source()
    }

    override def grow(): Unit = for { (cluster, topic) <- topics; p <- 0 to 1 } {
      val _ = clusters(cluster).write(topic, p, count = 3 + p, millis = 0L)
    }
  }
}
