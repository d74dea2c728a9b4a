// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.oracle

import scala.collection.mutable

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{LoggerConfig, Property}
import org.apache.logging.log4j.core.filter.ThresholdFilter
import org.apache.logging.log4j.core.{Filter, LogEvent, LoggerContext}
import org.apache.logging.log4j.{Level, LogManager}

/** Warnings that Splice logs on the threads of scenarios. */
private[life] object LifeWarnings {

  private val own = new ThreadLocal[mutable.ArrayBuffer[String]]

  private val name = "splice"

  /** Starts to collect warnings of the calling thread. */
  def begin(): Unit = own.set(mutable.ArrayBuffer.empty)

  /** Returns the warnings since the last call. */
  def take(): Seq[String] = Option(own.get).fold(Seq.empty[String]) { all =>
    val taken = all.toSeq
    all.clear()
    taken
  }

  /** Captures Splice's log during `body`, so that no warning is printed. */
  def during[A](body: => A): A = {
    val context  = LogManager.getContext(false).asInstanceOf[LoggerContext]
    val config   = context.getConfiguration
    val before   = Option(config.getLoggers.get(name))
    val appender = new Warnings
    appender.start()
    val logger = new LoggerConfig(name, Level.WARN, false)
    logger.addAppender(
      appender,
      Level.WARN,
      ThresholdFilter.createFilter(Level.ALL, Filter.Result.ACCEPT, Filter.Result.DENY)
    )
    config.addLogger(name, logger)
    context.updateLoggers()
    try body
    finally {
      config.removeLogger(name)
      before.foreach(config.addLogger(name, _))
      context.updateLoggers()
    }
  }

  final private class Warnings extends AbstractAppender("life", None.orNull, None.orNull, false, Property.EMPTY_ARRAY) {
    override def append(event: LogEvent): Unit = Option(own.get).foreach(_ += event.getMessage.getFormattedMessage)
  }
}
