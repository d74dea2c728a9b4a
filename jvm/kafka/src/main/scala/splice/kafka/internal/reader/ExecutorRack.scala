// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.util.concurrent.ConcurrentHashMap

import org.apache.kafka.clients.consumer.ConsumerConfig
import org.apache.spark.SparkEnv
import org.slf4j.LoggerFactory

import splice.kafka.internal.options.RackFrom

/** The rack of the executor that runs this code. */
private[splice] object ExecutorRack {

  private val logger = LoggerFactory.getLogger(ExecutorRack.getClass)
  private val warned = ConcurrentHashMap.newKeySet[RackFrom]()

  /** The client property, if the executor has a rack. Without a rack, readers use partition leaders, and a warning is
    * logged once.
    */
  def property(from: RackFrom): Map[String, Object] = {
    val rack = from.rack(
      name => Option(System.getenv(name)),
      key => Option(SparkEnv.get).flatMap(_.conf.getOption(key))
    )
    if (rack.isEmpty && from != RackFrom.Nowhere && warned.add(from))
      logger.warn(
        s"The option 'rackFrom' is '$from', which is not set on this executor. Splice reads records from partition leaders."
      )
    rack.map(ConsumerConfig.CLIENT_RACK_CONFIG -> _).toMap
  }
}
