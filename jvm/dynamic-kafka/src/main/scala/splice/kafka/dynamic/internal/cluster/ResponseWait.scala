// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.util.concurrent.{Future => JFuture, TimeUnit}

/** Wait of the query's thread for a response of a cluster. A simulation replaces this wait, because the time until a
  * response depends on the load of the machine.
  */
private[dynamic] trait ResponseWait {

  /** Returns the response.
    *
    * @throws java.util.concurrent.TimeoutException
    *   without a response after this number of milliseconds
    * @throws java.util.concurrent.ExecutionException
    *   if the request failed
    */
  def apply[A](cluster: String, response: JFuture[A], millis: Long): A
}

private[dynamic] object ResponseWait {

  object InRealTime extends ResponseWait {
    override def apply[A](cluster: String, response: JFuture[A], millis: Long): A =
      response.get(millis, TimeUnit.MILLISECONDS)
  }
}
