// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.secrets

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Random

import org.apache.kafka.common.config.ConfigTransformer
import org.scalatest.funsuite.AnyFunSuite

final class SecretReferencesSuite extends AnyFunSuite {

  private def texts(alphabet: String, count: Int): Iterator[String] = {
    val random = new Random(1)
    Iterator.fill(count)(Seq.fill(random.nextInt(24))(alphabet(random.nextInt(alphabet.length))).mkString)
  }

  test("references are the references that Kafka finds") {
    texts("$$" + "{{}}::a \n", 200000).foreach { text =>
      val found = ConfigTransformer.DEFAULT_PATTERN.matcher(text)
      val kafka = Iterator.continually(found).takeWhile(_.find()).map(one =>
        SecretReferences.Reference(one.group(1), Option(one.group(3)).getOrElse(""), one.group(4))
      ).toSeq
      assert(SecretReferences.found(text).map(_.reference) == kafka, text)
    }
  }

  test("a comment of a login line is removed, but not the text after the comment") {
    val comment = "/\\*(?s:.*?)\\*/|/[^\\n]*".r
    texts("//**\n a=b\"", 200000).foreach { text =>
      assert(LoginLine.withoutComments(text) == comment.replaceAllIn(text, " "), text)
    }
  }

  test("the time for a long text is not quadratic") {
    val references = new SecretReferences(Map("config.providers" -> "a", "config.providers.a.class" -> "A"))
    def read(text: String): Unit = {
      assert(!references.isReference(text))
      val _ = (SecretReferences.found(text), references.replaced(text, "x"), references.unconfigured(text))
      val _ = LoginLine.withoutComments(text)
    }
    val start = "$" + "{"
    val parts = Seq(start, s"$start:", s"${start}a:", s"$start}", "$", ":", "/*\n", "/*/", "//", "*/")
    val all   = Future(parts.foreach { part =>
      read(part * (8000000 / part.length))
      read(start + part * (8000000 / part.length))
    })(ExecutionContext.global)
    Await.result(all, 60.seconds)
  }
}
