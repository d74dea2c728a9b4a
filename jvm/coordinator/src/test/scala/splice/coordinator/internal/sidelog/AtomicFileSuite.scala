// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.io.IOException
import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{FileSystemException, Files, Path}
import java.util.concurrent.{Callable, CyclicBarrier, Executors}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FSDataOutputStream, FileSystem, LocalFileSystem, Path => HadoopPath, RawLocalFileSystem}
import org.apache.hadoop.util.Progressable
import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceException
import splice.source.internal.entries.CheckpointStore

/** Files that are created as a whole or not at all, on Hadoop's local file system and on an example of other file
  * systems.
  */
final class AtomicFileSuite extends AnyFunSuite {

  private val hadoop = new Configuration()

  /** A subclass, so Splice does not bypass Hadoop. */
  private class Other extends LocalFileSystem(new RawLocalFileSystem)

  /** A file system with the scheme of HDFS, which calls `written` after it has created a temporary file. */
  final private class Hdfs(written: () => Unit) extends Other {

    override def getUri: URI = URI.create("hdfs:///")

    override def create(
        path: HadoopPath,
        permission: FsPermission,
        overwrite: Boolean,
        bufferSize: Int,
        replication: Short,
        blockSize: Long,
        progress: Progressable
    ): FSDataOutputStream = {
      val out = super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress)
      try written()
      catch {
        case e: IOException =>
          out.close()
          throw e
      }
      out
    }
  }

  private def hdfs(written: () => Unit = () => ()): FileSystem = {
    val created = new Hdfs(written)
    created.initialize(URI.create("file:///"), hadoop)
    created
  }

  private def local: FileSystem = FileSystem.getLocal(hadoop)

  private def other: FileSystem = {
    val created = new Other
    created.initialize(local.getUri, hadoop)
    created
  }

  private def create(
      fs: FileSystem,
      file: Path,
      text: String,
      store: CheckpointStore = CheckpointStore.Unsafe
  ): Boolean = AtomicFile.create(fs, new HadoopPath(file.toUri), hadoop, text.getBytes(UTF_8), store)

  private def names(folder: Path): Set[String] =
    Files.list(folder).iterator.asScala.map(_.getFileName.toString).filterNot(_.endsWith(".crc")).toSet

  private def both(body: FileSystem => Unit): Unit = Seq(local, other).foreach(body)

  test("a file is created with its folders, is never replaced, and leaves no temporary file") {
    both { fs =>
      val file = Files.createTempDirectory("atomic").resolve("a/b/entry")
      assert(create(fs, file, "first") && !create(fs, file, "second"))
      assert(Files.readString(file) == "first" && names(file.getParent) == Set("entry"))
    }
  }

  test("many concurrent writers of a file leave one whole content, on a local disk that of the only success") {
    both { fs =>
      val file    = Files.createTempDirectory("atomic").resolve("entry")
      val crowd   = 8
      val barrier = new CyclicBarrier(crowd)
      val pool    = Executors.newFixedThreadPool(crowd)
      try {
        val tries = (0 until crowd).map { i =>
          pool.submit((() => {
            barrier.await()
            create(fs, file, s"writer $i")
          }): Callable[Boolean])
        }
        val winners = tries.map(_.get).zipWithIndex.collect { case (true, i) => i }
        val content = Files.readString(file)
        // The other file system checks the name before the rename, so another writer may replace the file, and may then
        // fail at the checksum of the first writer. Only `unsafe` accepts this file system.
        if (fs == local) assert(winners.map(i => s"writer $i") == Seq(content))
        else assert(winners.nonEmpty && (0 until crowd).exists(i => s"writer $i" == content))
        assert(names(file.getParent) == Set("entry"))
      } finally { val _ = pool.shutdownNow() }
    }
  }

  test("Hadoop reads a file that was created without Hadoop") {
    val raw = new RawLocalFileSystem
    raw.initialize(local.getUri, hadoop)
    Seq(local, raw).foreach { fs =>
      val file = Files.createTempDirectory("atomic").resolve("entry")
      assert(create(fs, file, "text", CheckpointStore.Atomic))
      val in = fs.open(new HadoopPath(file.toUri))
      try assert(new String(in.readAllBytes(), UTF_8) == "text")
      finally in.close()
    }
  }

  test("storage without an atomic creation is rejected by name, before any write") {
    val folder = Files.createTempDirectory("atomic")
    val error  = intercept[SpliceException](create(other, folder.resolve("a/entry"), "text", CheckpointStore.Atomic))
    assert(error.getCondition == "SPLICE_CHECKPOINT.STORE_NOT_ATOMIC")
    Seq("a/entry", "'file'", "conditional writes", "'checkpointStore' to 'unsafe'").foreach(part =>
      assert(error.getMessage.contains(part))
    )
    assert(names(folder).isEmpty)
  }

  test("an object store receives one conditional upload, and a later upload finds that the object exists") {
    val store = new ObjectStore(Int.MaxValue)
    val file  = Files.createTempDirectory("atomic").resolve("a/entry")
    assert(create(store, file, "first", CheckpointStore.Atomic) && Files.readString(file) == "first")
    assert(!create(store, file, "second", CheckpointStore.Atomic))
    // The other driver's upload ends after this upload has checked the name, and before this upload ends.
    val late = file.resolveSibling("late")
    store.beforeClose = () => { val _ = Files.writeString(late, "other") }
    assert(!create(store, late, "mine", CheckpointStore.Atomic) && Files.readString(late) == "other")
    assert(store.uploads == 1)
  }

  test("an upload that fails publishes nothing") {
    val store = new ObjectStore(4)
    val file  = Files.createTempDirectory("atomic").resolve("entry")
    val error = intercept[IOException](create(store, file, "a long text", CheckpointStore.Atomic))
    assert(error.getMessage == "no space left for parts" && !Files.exists(file) && store.uploads == 0)
    assert(store.aborted == 1, "closing the stream would publish a part of the content")
    store.beforeClose = () => throw new IOException("503")
    assert(intercept[IOException](create(store, file, "text", CheckpointStore.Atomic)).getMessage == "503")
    store.beforeClose = () => {
      store.beforeExists = () => throw new IOException("504")
      throw new IOException("503")
    }
    val both = intercept[IOException](create(store, file, "text", CheckpointStore.Atomic))
    assert(both.getMessage == "503" && both.getSuppressed.map(_.getMessage).toSeq == Seq("504"))
  }

  test("an object store without conditions receives one upload, only if the user accepts the store") {
    val store = new ObjectStore(Int.MaxValue, isConditional = false)
    val file  = Files.createTempDirectory("atomic").resolve("entry")
    val error = intercept[SpliceException](create(store, file, "text", CheckpointStore.Atomic))
    assert(error.getCondition == "SPLICE_CHECKPOINT.STORE_NOT_ATOMIC" && store.uploads == 0)
    assert(create(store, file, "text") && Files.readString(file) == "text")
    assert(store.uploaded == Seq("entry") && names(file.getParent) == Set("entry"))
  }

  test("HDFS renames a temporary file, and the temporary file of a failed or late write is removed") {
    val file = Files.createTempDirectory("atomic").resolve("a/entry")
    assert(create(hdfs(), file, "text", CheckpointStore.Atomic) && names(file.getParent) == Set("entry"))
    val late  = file.resolveSibling("late")
    val loses = hdfs(() => { val _ = Files.writeString(late, "other") })
    assert(!create(loses, late, "mine", CheckpointStore.Atomic) && Files.readString(late) == "other")
    val full  = hdfs(() => throw new IOException("no space left"))
    val error = intercept[IOException](create(full, file.resolveSibling("none"), "text", CheckpointStore.Atomic))
    assert(error.getMessage == "no space left" && names(file.getParent) == Set("entry", "late"))
  }

  test("a file system without a FileContext also renames, if the user accepts the storage") {
    val folder                         = Files.createTempDirectory("atomic")
    val file                           = new HadoopPath(s"plain://$folder/a/entry")
    def create(store: CheckpointStore) = {
      val configuration = PlainStore.configuration
      AtomicFile.create(file.getFileSystem(configuration), file, configuration, "text".getBytes(UTF_8), store)
    }
    val error = intercept[SpliceException](create(CheckpointStore.Atomic))
    assert(error.getMessage.contains("'plain'") && names(folder).isEmpty)
    assert(create(CheckpointStore.Unsafe) && !create(CheckpointStore.Unsafe))
    assert(names(folder.resolve("a")) == Set("entry"))
  }

  test("only a disk without hard links is not atomic; a full disk is an error of its own") {
    val file                   = Files.createTempDirectory("atomic").resolve("entry")
    def create(reason: String) = {
      def fails(link: Path, existing: Path): Unit = throw new FileSystemException(s"$link", s"$existing", reason)
      new LocalFile(file, link = fails).create("text".getBytes(UTF_8))
    }
    assert(Seq("Operation not permitted", "Operation not supported").forall(create(_).isEmpty))
    Seq("No space left on device", "Disk quota exceeded", "Input/output error", "Read-only file system").foreach {
      reason => assert(intercept[FileSystemException](create(reason)).getReason == reason)
    }
    assert(names(file.getParent).isEmpty)
  }

  test("the names of a file and of its new folders are flushed to the disk") {
    val root    = Files.createTempDirectory("atomic")
    var flushed = Vector.empty[Path]
    val file    = root.resolve("a/b/entry")
    def make()  = new LocalFile(file, folder => flushed :+= folder).create("text".getBytes(UTF_8))
    assert(make().contains(true) && flushed.toSet == Set(root, root.resolve("a"), root.resolve("a/b")))
    assert(flushed.last == root.resolve("a/b"))
    flushed = Vector.empty
    assert(make().contains(false) && flushed.isEmpty && names(file.getParent) == Set("entry"))
  }
}
