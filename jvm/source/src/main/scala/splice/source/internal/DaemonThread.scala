// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.util.concurrent.ThreadFactory

/** Creates daemon threads, which do not keep the JVM from exiting. */
private[splice] object DaemonThread {

  def named(name: String): ThreadFactory = task => {
    val created = new Thread(task, name)
    created.setDaemon(true)
    created
  }
}
