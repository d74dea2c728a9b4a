// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.util.{Collections, LinkedHashMap, Map => JMap}

import scala.ref.WeakReference

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession

import splice.spark.internal.metrics.QueryGauges

/** The checkpoint of a query.
  *
  * @param own
  *   the session of the query. The query also keeps the session, so the session exists while a caller has the query
  */
final private[spark] class QueryCheckpoint(val folder: String, own: WeakReference[SparkSession]) {

  /** The session of the query, which has the settings of the storage, or the active session if no caller has the query.
    */
  def session: SparkSession = own.get.getOrElse(SparkSession.active)
}

/** The checkpoints of the queries that this driver has started, by the id of the query. */
private[spark] object QueryCheckpoints {

  private val Most = 1000

  private val known: JMap[String, QueryCheckpoint] =
    Collections.synchronizedMap(new LinkedHashMap[String, QueryCheckpoint] {
      override def removeEldestEntry(eldest: JMap.Entry[String, QueryCheckpoint]): Boolean = size > Most
    })

  /** Records the checkpoint of the query that this thread runs.
    *
    * @param spark
    *   the session of the query
    * @param source
    *   the folder of one source of the query, `<checkpoint>/sources/<n>`
    */
  def learn(spark: SparkSession, source: Path): Unit =
    Option(spark.sparkContext.getLocalProperty(QueryGauges.QueryId)).foreach { id =>
      val _ = known.put(id, new QueryCheckpoint(source.getParent.getParent.toString, new WeakReference(spark)))
    }

  /** Returns the checkpoint of a query, or None if this driver has not started the query. Also returns None if this
    * driver has started many other queries since.
    */
  def find(query: String): Option[QueryCheckpoint] = Option(known.get(query))
}
