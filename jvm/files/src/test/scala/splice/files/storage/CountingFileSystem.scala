// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.storage

import java.net.URI
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, CountDownLatch}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  BlockLocation,
  FSDataInputStream,
  FileStatus,
  LocatedFileStatus,
  Path,
  RawLocalFileSystem,
  RemoteIterator
}

/** Local file system as `counting:///` that records all requests about paths. */
class CountingFileSystem extends RawLocalFileSystem {

  override def getUri: URI = URI.create("counting:///")

  override def getScheme: String = "counting"

  override def initialize(uri: URI, configuration: Configuration): Unit = {
    CountingFileSystem.created.incrementAndGet()
    super.initialize(uri, configuration)
  }

  override def listStatus(path: Path): Array[FileStatus] = {
    CountingFileSystem.note("list", path)
    CountingFileSystem.pass(path)
    CountingFileSystem.fail(path)
    super.listStatus(path).map { s =>
      s.setPath(makeQualified(new Path(s.getPath.toUri.getPath)))
      s
    }
  }

  override def getFileBlockLocations(file: FileStatus, start: Long, length: Long): Array[BlockLocation] =
    Array(new BlockLocation(Array("host-a:9866"), Array("host-a"), start, length))

  override def listLocatedStatus(path: Path): RemoteIterator[LocatedFileStatus] = {
    CountingFileSystem.note("list", path)
    super.listLocatedStatus(path)
  }

  override def getFileStatus(path: Path): FileStatus = {
    CountingFileSystem.note("status", path)
    CountingFileSystem.failStatus(path)
    val status = super.getFileStatus(path)
    status.setPath(makeQualified(new Path(status.getPath.toUri.getPath)))
    status
  }

  /** Has two requests, because S3A searches for a file and then for a folder. */
  override def exists(path: Path): Boolean = {
    (1 to 2).foreach(_ => CountingFileSystem.note("status", path))
    super.exists(path)
  }

  /** Has one request, because S3A searches only for a folder. */
  override def isDirectory(path: Path): Boolean = {
    CountingFileSystem.note("status", path)
    pathToFile(path).isDirectory
  }

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    CountingFileSystem.note("open", path)
    CountingFileSystem.fail(path)
    super.open(path, bufferSize)
  }
}

object CountingFileSystem {

  private val noted = new ConcurrentLinkedQueue[(String, String)]

  private def note(what: String, path: Path): Unit = { val _ = noted.add(what -> path.toUri.getPath) }

  private val created = new AtomicInteger

  /** Runs `body` and returns the number of file systems that it creates. */
  def instances(body: => Unit): Int = {
    val before = created.get
    body
    created.get - before
  }

  private val failures = new ConcurrentHashMap[String, Exception]

  private def fail(path: Path): Unit = Option(failures.get(path.toUri.getPath)).foreach(e => throw e)

  /** Runs `body`, during which opening the file or listing the folder fails with `e`. */
  def failing[A](file: String, e: Exception)(body: => A): A = {
    failures.put(file, e)
    try body
    finally { val _ = failures.remove(file) }
  }

  private val gates = new ConcurrentHashMap[String, (CountDownLatch, CountDownLatch)]

  private def pass(path: Path): Unit = Option(gates.get(path.toUri.getPath)).foreach { case (arrived, opened) =>
    arrived.countDown()
    opened.await()
  }

  /** Runs `body`, during which requests to list the folder do not end. The latch opens at the first request. */
  def hanging[A](folder: String)(body: CountDownLatch => A): A = {
    val (arrived, opened) = (new CountDownLatch(1), new CountDownLatch(1))
    gates.put(folder, (arrived, opened))
    try body(arrived)
    finally release(folder)
  }

  /** Ends the requests that [[hanging]] holds. */
  def release(folder: String): Unit = Option(gates.remove(folder)).foreach(_._2.countDown())

  private val statusFailures = new ConcurrentHashMap[String, Exception]

  private def failStatus(path: Path): Unit =
    Option(statusFailures.remove(path.toUri.getPath)).foreach(e => throw e)

  /** Makes the next status request for `file` fail with `e`. */
  def failNextStatus(file: String, e: Exception): Unit = { val _ = statusFailures.put(file, e) }

  /** Runs `body` and returns its requests about paths below `folder`. */
  def during[A](folder: String)(body: => A): (A, Seq[(String, String)]) = {
    noted.clear()
    val result = body
    (result, noted.asScala.toSeq.filter(_._2.startsWith(folder)))
  }
}
