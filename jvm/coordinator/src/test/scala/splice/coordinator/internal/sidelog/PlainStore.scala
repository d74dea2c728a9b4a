// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.RawLocalFileSystem

/** The local file system as `plain:///`: no conditional uploads, no links, and no `FileContext`. */
final class PlainStore extends RawLocalFileSystem {

  override def getUri: URI = URI.create("plain:///")

  override def getScheme: String = "plain"
}

object PlainStore {

  /** Returns a configuration that has the scheme. */
  def configuration: Configuration = {
    val created = new Configuration()
    created.set("fs.plain.impl", classOf[PlainStore].getName)
    created
  }
}
