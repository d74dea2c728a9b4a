// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import java.time.Duration

import org.apache.spark.sql.internal.SQLConf

import splice.source.internal.ForwardingReader
import splice.source.runtime.SessionSettings
import splice.source.{Poll, SplitReader}

/** Reader that replaces the settings of the task by given settings. Spark's parsers read the settings for each row. */
final private[files] class PinnedReader[T](inner: SplitReader[T], settings: SessionSettings)
    extends ForwardingReader[T, T](inner) {

  private lazy val conf = settings.conf

  override def poll(patience: Duration): Poll = SQLConf.withExistingConf(conf)(inner.poll(patience))

  override def get(): T = inner.get()
}
