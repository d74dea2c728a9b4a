// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{Configurator, Property}
import org.apache.logging.log4j.core.filter.ThresholdFilter
import org.apache.logging.log4j.core.layout.PatternLayout
import org.apache.logging.log4j.core.{Filter, LogEvent, LoggerContext}
import org.apache.logging.log4j.{Level, LogManager}

/** Captures the messages of a logger at level INFO or higher. */
object LoggedMessages {

  /** Runs `body` and returns the messages of the logger `name`, with the texts of logged exceptions. The name is a
    * class or a package.
    */
  def during[A](name: String)(body: => A): (A, Seq[String]) = {
    val context  = LogManager.getContext(false).asInstanceOf[LoggerContext]
    val logger   = context.getLogger(name)
    val isKnown  = context.getConfiguration.getLoggers.containsKey(name)
    val level    = logger.getLevel
    val appender = new Messages
    appender.start()
    logger.addAppender(appender)
    Configurator.setLevel(name, Level.INFO)
    try {
      val result = body
      (result, appender.texts.asScala.toSeq)
    } finally {
      logger.removeAppender(appender)
      // A logger with an explicit level would no longer inherit the level of its parent.
      if (isKnown) Configurator.setLevel(name, level)
      else {
        context.getConfiguration.removeLogger(name)
        context.updateLoggers()
      }
    }
  }

  final private class Messages extends AbstractAppender(
        "messages",
        ThresholdFilter.createFilter(Level.ALL, Filter.Result.ACCEPT, Filter.Result.DENY),
        PatternLayout.createDefaultLayout(),
        false,
        Property.EMPTY_ARRAY
      ) {
    val texts = new ConcurrentLinkedQueue[String]

    override def append(event: LogEvent): Unit = {
      val thrown = Option(event.getThrown).fold("")(e => s" ${e.getStackTrace.mkString(e.toString, " ", "")}")
      val _      = texts.add(event.getMessage.getFormattedMessage + thrown)
    }
  }
}
