// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import java.net.{InetAddress, InetSocketAddress, ServerSocket}

import scala.util.{Random, Try, Using}

/** Free ports below the system's range of ephemeral ports. A server can therefore restart on its port. */
object FreePort {

  private val Lowest  = 15000
  private val Highest = 32000

  def apply(): Int =
    Iterator
      .continually(Lowest + Random.nextInt(Highest - Lowest))
      .find(isFree)
      .getOrElse(throw new IllegalStateException("no port is free"))

  private def isFree(port: Int): Boolean = Try(Using.resource(new ServerSocket()) { socket =>
    socket.setReuseAddress(true)
    socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress, port))
  }).isSuccess
}
