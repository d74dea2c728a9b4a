// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.access

import java.io.{EOFException, FileNotFoundException, IOException}
import java.nio.file.{AccessDeniedException, Files, Path, Paths}

import org.apache.hadoop.security.AccessControlException
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.split.FileRange
import splice.files.storage.VaultFileSystem
import splice.files.{LocalSpark, SourceRead}
import splice.source.runtime.SideLog
import splice.testkit.LoggedMessages

/** Tests of paths with a user and a password, which are never shown or stored. */
final class PathUsersSuite extends AnyFunSuite with LocalSpark {

  import VaultFileSystem.{Authority, Secret}

  private def vault(path: String): String = s"vault://$Authority$path"

  private def read(log: SideLog, format: String, name: String, options: (String, String)*): SourceRead = {
    val all = Seq("format" -> format, "path" -> vault(at(name)), "fs.vault.impl" -> classOf[VaultFileSystem].getName) ++
      options
    new SourceRead(SourceRead.source(all: _*), log)
  }

  private def fileOf(name: String): Path =
    Files.list(Paths.get(at(name))).filter(_.getFileName.toString.startsWith("part-")).findFirst.get

  private def texts(e: Throwable): Seq[String] =
    Iterator.iterate(Option(e))(
      _.flatMap(error => Option(error.getCause))
    ).takeWhile(_.isDefined).flatten.map(_.toString).toSeq

  private def assertHidden(texts: Iterable[String]): Unit = texts.foreach(text => assert(!text.contains(Secret)))

  test("rows are read, and the list, the log, the plan and the columns have no password") {
    spark.range(0, 20, 1, 2).write.parquet(at("lake a"))
    spark.range(0, 20, 1, 2).write.csv(at("lines"))
    Seq("parquet" -> "lake a", "csv" -> "lines").foreach { case (format, name) =>
      val log              = new MemorySideLog
      val first            = read(log, format, name, "schema" -> "id BIGINT")
      val (rows, messages) = LoggedMessages.during("splice.files")(first.rows())
      val path             = StructType(first.source.metadataColumns.filter(_.name == "_file_path"))
      val paths            = first.rows(path)
      assert(rows.size == 20 && messages.exists(_.contains("2 files found")))
      assertHidden(messages ++ paths ++ log.keys("").flatMap(log.get).flatten ++ first.allRanges.map(_.toString))
      assertHidden(first.allRanges.collect { case range: FileRange => range.blocks.map(_.path).mkString })
      assertHidden(Seq(first.source.toString, first.source.identity.toString))
      assert(first.source.identity("path").startsWith("vault://my_host/"))
      // A restart does not list, so its options must provide the user.
      assert(read(log, format, name, "schema" -> "id BIGINT").rows().size == 20)
    }
  }

  test("several roots on one host with different users and passwords are read") {
    val users = PathUsers.of(Seq("ftp://a:1@h_1/x/*.csv", "ftp://b:p@2@h_1/y y/", "abfss://c@account/z", "/local"))
    assert(users.restore("ftp://h_1/x/1.csv") == "ftp://a:1@h_1/x/1.csv")
    assert(users.restore("ftp://h_1/y%20y/1.csv") == "ftp://b:p@2@h_1/y%20y/1.csv")
    assert(users.restore("abfss://c@account/z") == "abfss://c@account/z")
    assert(users.restore("ftp://h_12/x/1.csv") == "ftp://h_12/x/1.csv")
    assert(PathUsers.without("abfss://c@account/z") == "abfss://c@account/z")
    assert(PathUsers.without("ftp://b:p@2@h_1/y") == "ftp://h_1/y")
  }

  test("errors have no password") {
    spark.range(0, 10, 1, 2).write.parquet(at("broken"))
    val strict  = read(new MemorySideLog, "parquet", "broken")
    val lenient =
      read(new MemorySideLog, "parquet", "broken", "ignoreCorruptFiles" -> "true", "ignoreMissingFiles" -> "true")
    val all            = Seq(strict, lenient).map(one => one -> one.allRanges).toMap
    def errors(): Unit = {
      val error = intercept[Exception](SourceRead.here(
        strict.enumerator.readers(strict.source.schema, all(strict)),
        all(strict)
      )(identity))
      val (_, messages) = LoggedMessages.during("splice.files") {
        SourceRead.here(lenient.enumerator.readers(lenient.source.schema, all(lenient)), all(lenient))(identity)
      }
      assert(texts(error).exists(_.contains("my_host")))
      assertHidden(texts(error) ++ messages)
    }
    val file = fileOf("broken")
    val size = Files.size(file).toInt
    val time = Files.getLastModifiedTime(file)
    Files.setLastModifiedTime(Files.write(file, Array.fill[Byte](size)(7)), time)
    errors()
    Files.write(file, Array.fill[Byte](size + 1)(7))
    assertHidden(texts(intercept[Exception](strict.rows(ranges = all(strict)))))
    Files.delete(file)
    errors()
    val schema = intercept[Exception](read(new MemorySideLog, "parquet", "nowhere").source.schema)
    assert(texts(schema).exists(_.contains("my_host")))
    assertHidden(texts(schema))
    Files.write(Files.createDirectory(Paths.get(at("inferred"))).resolve("part-0.parquet"), Array.fill[Byte](100)(7))
    assertHidden(texts(intercept[Exception](read(new MemorySideLog, "parquet", "inferred").source.schema)))
  }

  test("an error keeps its type without the password, so missing and denied files are distinguished") {
    val users                 = PathUsers.of(Seq(s"vault://$Authority/x"))
    val text                  = s"vault://$Authority/x/1.csv"
    def cleaned(e: Exception) = users.cleaned(e)
    def kind(e: Exception)    = cleaned(e).getClass.getSimpleName
    assert(kind(new FileNotFoundException(text)) == "FileNotFoundException")
    assert(kind(new AccessControlException(text)) == "AccessControlException")
    assert(kind(new AccessDeniedException(text)) == "AccessControlException")
    assert(kind(new EOFException(text)) == "IOException")
    val wrapped = cleaned(new IllegalStateException("outside", new FileNotFoundException(text)))
    assert(wrapped.getClass == classOf[RuntimeException] && wrapped.getCause.getClass == classOf[FileNotFoundException])
    assertHidden(texts(wrapped))
    val other = new IOException("vault://my_host/x")
    assert(cleaned(other) eq other)
    assert(intercept[FileNotFoundException](users.guarded(throw new FileNotFoundException(text))).getMessage.contains(
      "my_host"
    ))
  }
}
