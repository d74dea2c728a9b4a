// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import java.net.{InetAddress, InetSocketAddress, ServerSocket}
import java.nio.channels.{FileChannel, FileLock}
import java.nio.file.Paths
import java.nio.file.StandardOpenOption.{CREATE, WRITE}

import scala.util.{Random, Try, Using}

/** Free ports below the system's range of ephemeral ports. A server can therefore restart on its port.
  *
  * Each JVM has a separate set of ports, so no other JVM uses the port of a server that is down. Each port is returned
  * again only after all other ports of the set.
  */
object FreePort {

  private val Lowest  = 15000
  private val Highest = 32000
  private val Sets    = 50

  // The JVM holds the lock of its set until it ends.
  private lazy val own: (FileLock, Iterator[Int]) = {
    val locks       = for { set <- (0 until Sets).iterator; lock <- locked(set).iterator } yield lock -> set
    val (lock, set) = locks.nextOption().getOrElse(throw new IllegalStateException(s"$Sets JVMs use free ports"))
    val ports       = (Lowest + set until Highest by Sets).toVector
    lock -> Iterator.continually(Random.shuffle(ports)).flatten
  }

  def apply(): Int = synchronized {
    val (_, ports) = own
    Iterator.fill(Highest - Lowest)(ports.next()).find(isFree)
      .getOrElse(throw new IllegalStateException("no port is free"))
  }

  private def locked(set: Int): Option[FileLock] = {
    val file = Paths.get(System.getProperty("java.io.tmpdir"), s"splice-ports-$set.lock")
    Try(FileChannel.open(file, CREATE, WRITE)).toOption.flatMap { channel =>
      val lock = Try(Option(channel.tryLock())).toOption.flatten
      if (lock.isEmpty) channel.close()
      lock
    }
  }

  private def isFree(port: Int): Boolean = Try(Using.resource(new ServerSocket()) { socket =>
    socket.setReuseAddress(true)
    socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress, port))
  }).isSuccess
}
