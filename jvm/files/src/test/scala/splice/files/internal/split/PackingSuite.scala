// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.scalatest.funsuite.AnyFunSuite

/** Tests of packing files into tasks. */
final class PackingSuite extends AnyFunSuite {

  private def file(name: String, size: Long, splittable: Boolean = true, homes: Seq[BlockHome] = Nil) =
    ListedFile(name, size, 0L, splittable, InternalRow.empty, homes)

  private def ranges(packing: Packing, files: ListedFile*) = packing.ranges(
    files.zipWithIndex.map { case (f, i) => FilePart(i, 0, f.size) },
    files.toIndexedSeq,
    FileSchemas.empty
  )

  private def shape(created: Seq[FileRange]) = created.map(_.blocks.toSeq.map(b => (b.path, b.start, b.length)))

  test("large files are split and small files are packed, largest first") {
    val created = ranges(Packing(100, 10, 1), file("a", 250), file("b", 30), file("c", 20), file("d", 45))
    assert(
      shape(created) == Seq(
        Seq(("a", 0, 100)),
        Seq(("a", 100, 100)),
        Seq(("a", 200, 50), ("d", 0, 45)).take(1),
        Seq(("d", 0, 45), ("b", 0, 30)),
        Seq(("c", 0, 20))
      ).map(_.map { case (p, s, l) => (p, s.toLong, l.toLong) })
    )
  }

  test("a file that is not splittable is one block even if empty, and an empty splittable file has no block") {
    val created =
      ranges(Packing(100, 10, 1), file("a", 250, splittable = false), file("b", 0, splittable = false), file("c", 0))
    assert(shape(created).flatten.map(_._1) == Seq("a", "b"))
  }

  test("a small batch is distributed over the cores") {
    val created = ranges(Packing(1000, 10, 4), file("a", 400))
    assert(shape(created).flatten.map(_._3) == Seq(102L, 102L, 102L, 94L))
  }

  test("every byte is read once, for any sizes") {
    val random = new Random(7)
    (1 to 200).foreach { seed =>
      val files   = (0 until random.nextInt(40)).map(i => file(s"$i", random.nextInt(500).toLong, random.nextBoolean()))
      val packing = Packing(1L + random.nextInt(300), random.nextInt(20).toLong, 1 + random.nextInt(8))
      val created = ranges(packing, files: _*)
      files.foreach { f =>
        val blocks = created.flatMap(_.blocks).filter(_.path == f.path).sortBy(_.start)
        val ends   = blocks.map(b => b.start + b.length)
        assert(blocks.map(_.length).sum == f.size, s"seed $seed")
        assert(blocks.map(_.start) == (0L +: ends).take(blocks.size), s"seed $seed")
      }
      assert(created.map(_.splitId).distinct.size == created.size)
      assert(created == ranges(packing, files: _*))
    }
  }

  test("blocks are split like files, except blocks with a row span") {
    val rows    = Some(RowSpan(3, 9))
    val parts   = Seq(FilePart(0, 100, 150), FilePart(1, 200, 100, rows))
    val created = Packing(100, 10, 4).ranges(parts, IndexedSeq(file("a", 500), file("b", 300)), FileSchemas.empty)
    assert(
      created.flatMap(_.blocks).map(b => (b.path, b.start, b.length, b.rows)).sortBy(b => (b._1, b._2)) ==
        Seq(("a", 100L, 67L, None), ("a", 167L, 67L, None), ("a", 234L, 16L, None), ("b", 200L, 100L, rows))
    )
    assert(created.map(_.splitId).toSet == Set("0:100", "0:167", "0:234", "1:200"))
  }

  test("a task prefers the hosts with most of its bytes") {
    val homes   = Seq(BlockHome(0, 100, Seq("h1", "h2")), BlockHome(100, 100, Seq("h2", "h3")))
    val created = ranges(
      Packing(100, 10, 1),
      file("a", 200, homes = homes),
      file("b", 40, homes = Seq(BlockHome(0, 40, Seq("h9"))))
    )
    assert(created.map(_.preferredHosts) == Seq(Seq("h1", "h2"), Seq("h2", "h3"), Seq("h9")))
    def small(name: String, size: Long, host: String) =
      file(name, size, homes = Seq(BlockHome(0, size, Seq(host))))
    val packed = ranges(Packing(100, 1, 1), small("c", 10, "h1"), small("d", 50, "h9"), small("e", 20, "h2"))
    assert(packed.map(_.preferredHosts) == Seq(Seq("h9", "h2", "h1")), "of several blocks, the largest share first")
  }
}
