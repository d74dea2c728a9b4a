// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.entries

import org.scalatest.funsuite.AnyFunSuite

import splice.source.NumberPosition
import splice.source.errors.{CheckpointErrors, SpliceException}

final class VersionedJsonSuite extends AnyFunSuite {

  private def checked(text: String): Option[String] =
    try {
      val node = Json.readObject(text).getOrElse(fail(text))
      VersionedJson.check(node, "The text")(other => CheckpointErrors.corrupt("The text", s"version $other"))
      None
    } catch { case e: SpliceException => Some(e.getMessage) }

  test("the version is the last field of a text, after fields that are JSON already") {
    val text = VersionedJson.write("b" -> """{"x":[1]}""", "a" -> Json.quoted("ü\"\n"))
    assert(text == """{"b":{"x":[1]},"a":"ü\"\n","v":1}""")
    assert(checked(text).isEmpty && VersionedJson.isVersioned(Json.read(text).get))
  }

  test("a newer version is named, and any other version has the error of the format") {
    assert(checked("""{"v":2}""").exists(text => text.contains("VERSION_NOT_SUPPORTED") && text.contains("The text")))
    Seq(
      "{}"                   -> "None",
      """{"v":"1"}"""        -> "None",
      """{"v":null}"""       -> "None",
      """{"v":1.0}"""        -> "None",
      """{"v":3000000000}""" -> "None",
      """{"v":0}"""          -> "Some(0)",
      """{"v":-1}"""         -> "Some(-1)"
    ).foreach {
      case (text, version) => assert(checked(text).exists(_.contains(s"version $version")), text)
    }
    assert(!VersionedJson.isVersioned(Json.read("{}").get) && VersionedJson.isVersioned(Json.read("""{"v":"1"}""").get))
  }

  test("the position of a number has the errors of an offset") {
    def condition(text: String) = intercept[SpliceException](NumberPosition.read(text)).getCondition
    assert(NumberPosition.read("""{"n":5,"v":1}""") == 5L)
    assert(condition("""{"n":5,"v":2}""") == "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
    Seq("""{"n":5}""", """{"n":-1,"v":1}""", """{"n":"5","v":1}""", """{"v":1}""", """{"n":5,"v":0}""", "{}").foreach {
      text => assert(condition(text) == "SPLICE_CHECKPOINT.OTHER_SOURCE", text)
    }
    Seq("", "5", "[]", """{"n":5,"v":1""").foreach(text => assert(condition(text) == "SPLICE_CHECKPOINT.CORRUPT", text))
  }

  test("a damaged or newer head of an entry is named with the key") {
    def error(head: String) = intercept[SpliceException](VersionedEntry.read("k", Seq(head)))
    assert(VersionedEntry.read("k", VersionedEntry.write("a" -> Json.number(1))).long("a") == 1L)
    assert(VersionedEntry.write("z" -> Json.number(1)) == Seq("""{"v":1,"z":1}"""))
    assert(error("""{"v":2}""").getCondition == "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
    Seq(
      ""            -> "'' is not a JSON object",
      "7"           -> "'7' is not a JSON object",
      "{}"          -> "'v' is missing",
      """{"v":0}""" -> "'v' is 0"
    ).foreach { case (head, why) =>
      assert(error(head).getCondition == "SPLICE_CHECKPOINT.CORRUPT" && error(head).getMessage.contains(why), head)
      assert(error(head).getMessage.contains("Side-log entry k"))
    }
  }
}
