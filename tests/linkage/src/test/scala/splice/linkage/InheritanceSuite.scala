// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

import org.objectweb.asm.Opcodes
import org.scalatest.funsuite.AnyFunSuite

import splice.linkage.Written.Declared

final class InheritanceSuite extends AnyFunSuite {
  private val missing = Declared("asked", "()V", Written.abstractMethod)
  private val stream  = Written.of("lib/Stream", access = Written.interface, methods = Seq(missing))

  private def implementing(methods: Declared*) =
    Written.of("ours/MyStream", interfaces = Seq("lib/Stream"), methods = methods)

  test("a missing implementation of an abstract method is reported") {
    assert(Written.problems(implementing(), stream) == Seq("does not implement lib.Stream.asked()V"))
  }

  test("the class, a parent, or a default method of the interface may implement the method") {
    assert(Written.problems(implementing(Declared("asked", "()V")), stream).isEmpty)

    val parent = Written.of("lib/Base", methods = Seq(Declared("asked", "()V")))
    val child  = Written.of("ours/MyStream", parent = "lib/Base", interfaces = Seq("lib/Stream"))
    assert(Written.problems(child, stream, parent).isEmpty)

    val default = Written.of("lib/Stream", access = Written.interface, methods = Seq(Declared("asked", "()V")))
    assert(Written.problems(implementing(), default).isEmpty)
  }

  test("a default method that a subinterface declares abstract is not an implementation") {
    val far  = Written.of("lib/Far", access = Written.interface, methods = Seq(Declared("asked", "()V")))
    val near = Written.of("lib/Stream", access = Written.interface, interfaces = Seq("lib/Far"), methods = Seq(missing))
    assert(Written.problems(implementing(), near, far) == Seq("does not implement lib.Stream.asked()V"))
  }

  test("a static method of the same name is not an implementation") {
    val static = Declared("asked", "()V", Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC)
    assert(Written.problems(implementing(static), stream) == Seq("does not implement lib.Stream.asked()V"))
  }

  test("an abstract class of Splice needs no implementation") {
    val open = Written.of("ours/MyStream", access = Written.abstractMethod, interfaces = Seq("lib/Stream"))
    assert(Written.problems(open, stream).isEmpty)
  }

  test("a parent or a method that became final is reported") {
    val child       = Written.of("ours/Child", parent = "lib/P", methods = Seq(Declared("go", "()V")))
    val finalMethod = Declared("go", "()V", Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL)
    val parent      = Written.of("lib/P", access = Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL, methods = Seq(finalMethod))
    assert(Written.problems(child, parent) == Seq("extends lib.P, final now", "overrides lib.P.go()V, final now"))
  }

  private def forwarding(name: String, calls: String) = implementing(
    Declared("asked", "()V"),
    Declared(name, "()V", code = _.visitMethodInsn(Opcodes.INVOKESTATIC, "lib/Stream", calls, "(Llib/Stream;)V", true))
  )

  test("a forwarder to a default method that this version lacks is not a problem") {
    assert(Written.problems(forwarding("newer", "newer$"), stream).isEmpty)
  }

  test("a forwarder to a method that is abstract in this version is reported") {
    val asks = Written.of(
      "lib/Stream",
      access = Written.interface,
      methods = Seq(missing, Declared("newer", "()V", Written.abstractMethod))
    )
    assert(Written.problems(forwarding("newer", "newer$"), asks) == Seq("no method lib.Stream.newer$(Llib/Stream;)V"))
  }

  test("a method of another name with such a call is not a forwarder") {
    assert(
      Written.problems(forwarding("own", "newer$"), stream) == Seq("no method lib.Stream.newer$(Llib/Stream;)V")
    )
  }
}
