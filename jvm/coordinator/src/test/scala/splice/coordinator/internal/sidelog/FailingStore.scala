// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.io.IOException
import java.net.URI
import java.util.concurrent.atomic.AtomicReference

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, RawLocalFileSystem}

/** The local file system as `failing:///`. Reading, listing and deleting fail while [[FailingStore.failing]] is set. */
final class FailingStore extends RawLocalFileSystem {

  override def getUri: URI = URI.create("failing:///")

  override def getScheme: String = "failing"

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    FailingStore.check()
    super.open(path, bufferSize)
  }

  override def listStatus(path: Path): Array[FileStatus] = {
    FailingStore.check()
    super.listStatus(path)
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    FailingStore.check()
    super.delete(path, recursive)
  }
}

object FailingStore {

  private val error = new AtomicReference(Option.empty[IOException])

  private def check(): Unit = error.get.foreach(e => throw e)

  /** Returns a configuration that has the scheme. */
  def configuration: Configuration = {
    val created = new Configuration()
    created.set("fs.failing.impl", classOf[FailingStore].getName)
    created
  }

  /** Accesses fail with `e` during `body`. */
  def failing[A](e: IOException)(body: => A): A = {
    error.set(Some(e))
    try body
    finally error.set(None)
  }
}
