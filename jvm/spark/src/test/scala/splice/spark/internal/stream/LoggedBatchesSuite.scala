// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.nio.file.{Files, Path}
import java.util.Comparator

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.scalatest.funsuite.AnyFunSuite

/** The offsets of one source in the logs of a checkpoint. */
final class LoggedBatchesSuite extends AnyFunSuite {

  private def last(source: String)(files: (String, String)*): Option[String] = read(source)(files: _*)(_.committed())

  private def read[A](source: String)(files: (String, String)*)(ask: LoggedBatches => A): A = {
    val root = Files.createTempDirectory("logged")
    try {
      files.foreach { case (name, text) =>
        val file = root.resolve(name)
        Files.createDirectories(file.getParent)
        Files.writeString(file, text)
      }
      ask(new LoggedBatches(new HadoopPath(s"$root/sources/$source"), new Configuration(false)))
    } finally
      Using.resource(Files.walk(root))(_.sorted(Comparator.reverseOrder[Path]()).forEach(f => Files.delete(f)))
  }

  private val batches = Seq(
    "offsets/9"    -> "v1\n{\"batch\":9}\n{\"a\":9}\n{\"b\":9}",
    "offsets/10"   -> "v1\n{\"batch\":10}\n{\"a\":10}\n-",
    "offsets/11"   -> "v1\n{\"batch\":11}\n{\"a\":11}\n{\"b\":11}",
    "commits/9"    -> "v1\n{}",
    "commits/.tmp" -> ""
  )

  test("a batch that has an offset and no commit is not committed") {
    assert(last("0")(batches: _*).contains("{\"a\":9}"))
    assert(last("1")(batches: _*).contains("{\"b\":9}"))
    assert(last("0")(batches :+ ("commits/10" -> "v1\n{}"): _*).contains("{\"a\":10}"))
  }

  test("a batch that has read no row of the source has no offset of the source") {
    assert(last("1")(batches :+ ("commits/10" -> "v1\n{}"): _*).isEmpty)
  }

  test("sources may have names") {
    val named = Seq("offsets/3" -> "v2\n{}\nlive:{\"a\":1}\nlive2:{\"a\":2}", "commits/3" -> "v1\n{}")
    assert(last("live")(named: _*).contains("{\"a\":1}") && last("live2")(named: _*).contains("{\"a\":2}"))
  }

  // Spark logs one offset for each use of a source, and keeps one folder per source.
  test("a source that a query uses twice has one number, and the next source has the next number") {
    val logs = Seq(
      "offsets/5"        -> "v1\n{}\n{\"a\":1}\n{\"a\":1}\n{\"a\":1}\n{\"a\":1}",
      "offsets/6"        -> "v1\n{}\n{\"a\":2}\n{\"b\":1}\n{\"a\":2}\n{\"a\":1}",
      "commits/6"        -> "v1\n{}",
      "sources/0/splice" -> "",
      "sources/1/splice" -> "",
      "sources/2/splice" -> ""
    )
    assert((0 to 2).map(n => last(n.toString)(logs: _*)) == Seq("{\"a\":2}", "{\"b\":1}", "{\"a\":1}").map(Some(_)))
    // The source of an offset is unknown, but each source has the same offset.
    val first = logs.filterNot(_._1.endsWith("/6")) :+ ("commits/5" -> "v1\n{}")
    assert((0 to 2).forall(n => last(n.toString)(first: _*).contains("{\"a\":1}")))
    // The second and the third use may belong to one source or to two sources.
    val two = first.filterNot(_._1 == "offsets/5") :+
      ("offsets/5" -> "v1\n{}\n{\"a\":1}\n{\"b\":1}\n{\"b\":1}\n{\"b\":1}")
    assert((0 to 2).forall(n => last(n.toString)(two: _*).isEmpty))
  }

  test("a source without a folder is not a second use of another source") {
    val logs = Seq("offsets/6" -> "v1\n{}\n{\"a\":1}\n5\n{\"b\":1}", "commits/6" -> "v1\n{}")
    assert(last("0")(logs :+ ("sources/0/splice" -> ""): _*).contains("{\"a\":1}"))
    assert(last("2")(logs :+ ("sources/2/splice" -> ""): _*).contains("{\"b\":1}"))
  }

  test("a checkpoint without a committed batch has no committed offset") {
    assert(last("0")().isEmpty)
    assert(last("0")("offsets/0" -> "v1\n{}\n{}").isEmpty)
    assert(last("0")("commits/0" -> "v1\n{}").isEmpty)
  }

  test("the latest offset is the offset of the last batch, committed or not") {
    assert(read("0")(batches: _*)(_.latest()).contains("{\"a\":11}"))
    assert(read("1")(("offsets/12" -> "v1\n{}\n{}\n-") +: batches: _*)(_.latest()).isEmpty)
    assert(read("0")()(_.latest()).isEmpty)
  }

  test("the batches after the last committed batch are not committed") {
    assert(read("0")(batches: _*)(_.uncommitted()) == Seq(10, 11))
    assert(read("0")(batches :+ ("commits/11" -> "v1\n{}"): _*)(_.uncommitted()).isEmpty)
    assert(read("0")("offsets/0" -> "v1\n{}\n{}")(_.uncommitted()) == Seq(0))
    assert(read("0")()(_.uncommitted()).isEmpty)
  }

  test("an epoch of continuous mode has no metadata, and its offset can be removed") {
    val epochs = batches ++
      Seq("offsets/12" -> "v1\n\n{\"a\":12}", "offsets/.12.crc" -> "", "offsets/120" -> "v1\n{}\n{}")
    assert(read("0")(epochs: _*)(logged => (9L to 13L).filter(logged.isEpoch)) == Seq(12))
    assert(read("0")(epochs: _*)(_.lastEpoch()).isEmpty && read("0")(epochs.init: _*)(_.lastEpoch()).contains(12L))
    assert(read("0")("offsets/3" -> "")(_.lastEpoch()).isEmpty)
    assert(read("0")(epochs: _*) { logged =>
      logged.remove(12)
      (logged.uncommitted(), logged.end(12))
    } == ((Seq(10L, 11L, 120L), None)))
  }

  test("the oldest offset is the end of the oldest kept batch, unless batch 0 is kept") {
    assert(read("0")(batches: _*)(_.oldest()).contains("{\"a\":9}"))
    assert(read("0")(("offsets/0" -> "v1\n{}\n{\"a\":0}") +: batches: _*)(_.oldest()).isEmpty)
    assert(read("0")()(_.oldest()).isEmpty)
  }
}
