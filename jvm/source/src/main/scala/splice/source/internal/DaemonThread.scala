// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.util.concurrent.ThreadFactory

/** Creates daemon threads, which do not keep the JVM from exiting. */
private[splice] object DaemonThread {

  def named(name: String): ThreadFactory = task => {
    val made = new Thread(task, name)
    made.setDaemon(true)
    made
  }
}
