// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.util.{Collections, LinkedHashMap, Map => JMap}

import org.apache.hadoop.fs.Path
import org.apache.spark.SparkContext

import splice.spark.internal.metrics.QueryGauges

/** The checkpoints of the queries that this driver has started, by the id of the query. */
private[spark] object QueryCheckpoints {

  private val Most = 1000

  private val known: JMap[String, String] = Collections.synchronizedMap(new LinkedHashMap[String, String] {
    override def removeEldestEntry(eldest: JMap.Entry[String, String]): Boolean = size > Most
  })

  /** Records the checkpoint of the query that this thread runs.
    *
    * @param source
    *   the folder of one source of the query, `<checkpoint>/sources/<n>`
    */
  def learn(context: SparkContext, source: Path): Unit =
    Option(context.getLocalProperty(QueryGauges.QueryId)).foreach { id =>
      val _ = known.put(id, source.getParent.getParent.toString)
    }

  /** Returns the checkpoint of a query, or None if this driver has not started the query. Also returns None if this
    * driver has started many other queries since.
    */
  def find(query: String): Option[String] = Option(known.get(query))
}
