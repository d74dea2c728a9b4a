// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.net.{InetAddress, ServerSocket, Socket}

import scala.util.{Try, Using}

import splice.testkit.KafkaBroker

/** Fixed address that forwards connections to the current address of a broker. */
final private[broker] class Forwarder(broker: KafkaBroker) extends AutoCloseable {

  private val server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress)

  thread(while (!server.isClosed) Try(server.accept()).foreach(client => thread(forward(client))))

  def servers: String = s"127.0.0.1:${server.getLocalPort}"

  override def close(): Unit = server.close()

  private def forward(client: Socket): Unit = Try {
    val address = broker.servers.split(":")
    Using.resources(client, new Socket(address(0), address(1).toInt)) { (from, to) =>
      val back = thread { val _ = Try(to.getInputStream.transferTo(from.getOutputStream)) }
      Try(from.getInputStream.transferTo(to.getOutputStream))
      to.shutdownOutput()
      back.join()
    }
  }

  private def thread(body: => Unit): Thread = {
    val created = new Thread(() => body, "forwarder")
    created.setDaemon(true)
    created.start()
    created
  }
}
