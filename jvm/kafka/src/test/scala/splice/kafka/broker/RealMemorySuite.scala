// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Paths, StandardOpenOption}
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.producer.ProducerRecord
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.slots.CutRules
import splice.kafka.internal.consumer.ReadBudget
import splice.kafka.internal.pool.ReaderPool
import splice.source.errors.SpliceException
import splice.testkit.internal.broker.SharedKafka

/** Tests of readers with little memory, and of large or corrupt records, with a real broker. */
final class RealMemorySuite extends AnyFunSuite {

  private lazy val real = new RealLog(SharedKafka.east)

  test("200 partitions with a backlog are read in several batches with a heap that is smaller than the backlog") {
    val (partitions, perPartition, bytes) = (200, 200, 5000)
    real.create("backlog", partitions)
    Using.resource(real.producer("batch.size" -> "50000", "linger.ms" -> "50")) { out =>
      val value = "v" * bytes
      for (_ <- 0 until perPartition; p <- 0 until partitions) out.send(new ProducerRecord("backlog", p, "k", value))
      out.flush()
    }
    val program = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val opened  = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala
      .filter(_.startsWith("--add-opens"))
    val limits = Seq(
      "-Xmx128m",
      "-XX:MaxDirectMemorySize=32m",
      "-XX:+UseSerialGC",
      "-XX:TieredStopAtLevel=1",
      "-XX:+ExitOnOutOfMemoryError"
    )
    val classes = Seq("-cp", System.getProperty("java.class.path"))
    val main    =
      Seq(
        "splice.kafka.broker.SmallHeap",
        SharedKafka.east.servers,
        "backlog",
        "8",
        (partitions * perPartition).toString
      )
    val output  = Files.createTempFile("small-heap", ".log")
    val process = new ProcessBuilder((program +: (opened ++ limits ++ classes ++ main).toSeq).asJava)
      .redirectErrorStream(true)
      .redirectOutput(output.toFile)
      .start()
    try {
      assert(process.waitFor(180, TimeUnit.SECONDS), s"the process does not end: ${Files.readString(output)}")
      assert(process.exitValue == 0, Files.readString(output))
    } finally {
      process.destroyForcibly()
      Files.delete(output)
    }
  }

  test("a record that exceeds its share is read, and so are its neighbours") {
    real.create("large", 2, "max.message.bytes" -> "8000000")
    Using.resource(real.producer("max.request.size" -> "8000000")) { out =>
      for (i <- 0 until 20; p <- 0 to 1)
        out.send(new ProducerRecord("large", p, "k", "v" * (if (i == 10) 6000000 else 10)))
      out.flush()
    }
    val source = real.source("subscribe" -> "large", "startingOffsets" -> "earliest", "readBufferBytes" -> "16m")
    real.run(source) { c =>
      val rows = real.rows(source, c.tasks(c.initial(), c.advance(c.initial(), everything = true)), "large")
      assert(rows.map { case (p, o, v) => (p, o, v.length) }.toSet ==
        (for (p <- 0 to 1; i <- 0 until 20) yield (p, i.toLong, if (i == 10) 6000000 else 10)).toSet)
      assert(rows.size == 40)
    }
    ReaderPool.release("large")
  }

  test("minPartitions does not open one consumer per piece") {
    real.create("sequence", 1)
    real.write("sequence", 1, 0, 4000)
    val source = real.source("subscribe" -> "sequence", "startingOffsets" -> "earliest")
    real.run(source, slots = 40, cut = CutRules(minTasks = Some(40))) { c =>
      val tasks = c.tasks(c.initial(), c.advance(c.initial(), everything = true))
      assert(tasks.size == 40)
      assert(real.rows(source, tasks, "sequence").map(_._2).sorted == (0L until 4000L))
      assert(ReaderPool.ofExecutor.count(_.run == "sequence") == 1, "one task runs at a time")
    }
    ReaderPool.release("sequence")
  }

  test("queries of one JVM keep within the smallest readBufferBytes and read every row") {
    real.create("shared", 16)
    real.write("shared", 16, 0, 4000)
    Seq("wide" -> 64, "narrow" -> 16, "wide" -> 64, "narrow" -> 16).foreach { case (run, mebibytes) =>
      val options = Seq("subscribe" -> "shared", "startingOffsets" -> "earliest", "readBufferBytes" -> s"${mebibytes}m")
      val source  = real.source(options: _*)
      real.run(source, slots = 4) { c =>
        val tasks = c.tasks(c.initial(), c.advance(c.initial(), everything = true))
        assert(real.rows(source, tasks, run).map(_._3).sorted == (0 until 4000).map(i => s"v$i").sorted)
      }
      val open = Set("wide", "narrow").filter(own => ReaderPool.ofExecutor.count(_.run == own) > 0)
      assert(ReadBudget.ofExecutor.held <= (if (open("narrow")) 16L << 20 else 64L << 20), s"after $run")
    }
    assert(ReaderPool.ofExecutor.count(_.run == "narrow") > 0)
    Seq("wide", "narrow").foreach(ReaderPool.release)
  }

  private def damaged[A](topic: String, options: (String, String)*)(read: (=> Seq[(Int, Long, String)]) => A): A = {
    real.create(topic, 1)
    real.write(topic, 1, 0, 3)
    Using.resource(Files.newByteChannel(SharedKafka.east.logFile(topic, 0), StandardOpenOption.WRITE)) { file =>
      val _ = file.position(file.size - 3).write(java.nio.ByteBuffer.wrap("X".getBytes))
    }
    val source = real.source(options ++ Seq("subscribe" -> topic, "startingOffsets" -> "earliest"): _*)
    real.run(source) { c =>
      val tasks = c.tasks(c.initial(), c.advance(c.initial(), everything = true))
      read(real.rows(source, tasks, topic))
    }
  }

  test("a record that is corrupt in the broker's log is an error with its partition") {
    val error = damaged("damaged")(rows => intercept[SpliceException](rows))
    assert(error.getCondition == "SPLICE_KAFKA_DATA.CORRUPT_RECORD" && error.getMessage.contains("damaged-0"), error)
  }

  test("check.crcs=false reads a record that is corrupt in the broker's log") {
    val rows = damaged("unchecked", "kafka.check.crcs" -> "false")(rows => rows)
    assert(rows.map(_._2) == Seq(0L, 1L, 2L) && rows.map(_._3) == Seq("v0", "v1", "X2"))
  }
}
