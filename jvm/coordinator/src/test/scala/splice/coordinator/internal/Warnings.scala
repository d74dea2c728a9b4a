// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}

/** The warnings of a class. The test kit, which has the messages of all levels, depends on this module. */
object Warnings {

  /** Returns the warnings of a logger during `body`. */
  def during(name: String)(body: => Any): Seq[String] = {
    val logger   = LogManager.getLogger(name).asInstanceOf[Logger]
    val appender = new Collector
    appender.start()
    logger.addAppender(appender)
    try {
      val _ = body
      appender.texts.asScala.toSeq
    } finally logger.removeAppender(appender)
  }

  final private class Collector
      extends AbstractAppender("warnings", None.orNull, None.orNull, false, Property.EMPTY_ARRAY) {
    val texts = new ConcurrentLinkedQueue[String]

    override def append(event: LogEvent): Unit =
      if (event.getLevel == Level.WARN) { val _ = texts.add(event.getMessage.getFormattedMessage) }
  }
}
