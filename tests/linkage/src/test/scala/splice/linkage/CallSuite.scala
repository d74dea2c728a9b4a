// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

import org.objectweb.asm.{Handle, MethodVisitor, Opcodes, Type}
import org.scalatest.funsuite.AnyFunSuite

import splice.linkage.Written.Declared

final class CallSuite extends AnyFunSuite {
  private val unit = Type.getMethodType("()V")

  private val metafactory = new Handle(
    Opcodes.H_INVOKESTATIC,
    "java/lang/invoke/LambdaMetafactory",
    "metafactory",
    "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;" +
      "Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;)" +
      "Ljava/lang/invoke/CallSite;",
    false
  )

  private def user(code: MethodVisitor => Unit) =
    Written.of("ours/User", methods = Seq(Declared("run", "()V", code = code)))

  private val caller = user(_.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "lib/A", "go", "(I)V", false))

  test("an existing method with its descriptor is not a problem, also if it is inherited") {
    val withIt = Written.of("lib/A", methods = Seq(Declared("go", "(I)V")))
    assert(Written.problems(caller, withIt).isEmpty)
    val parent    = Written.of("lib/P", methods = Seq(Declared("go", "(I)V")))
    val inherited = Written.of("lib/A", parent = "lib/P")
    assert(Written.problems(caller, inherited, parent).isEmpty)
  }

  test("a missing method, and a method with other parameters, are reported") {
    assert(Written.problems(caller, Written.of("lib/A")) == Seq("no method lib.A.go(I)V"))
    val changed = Written.of("lib/A", methods = Seq(Declared("go", "(J)V")))
    assert(Written.problems(caller, changed) == Seq("no method lib.A.go(I)V"))
  }

  test("a missing class and a missing parent are reported") {
    assert(Written.problems(caller) == Seq("no class lib.A"))
    val orphan = Written.of("lib/A", parent = "lib/Gone", methods = Seq(Declared("go", "(I)V")))
    assert(Written.problems(caller, orphan) == Seq("no class lib.Gone, above lib.A"))
  }

  test("a class that became an interface is reported") {
    val method = Declared("go", "(I)V", Written.abstractMethod)
    val now    = Written.of("lib/A", access = Written.interface, methods = Seq(method))
    assert(Written.problems(caller, now) == Seq("method lib.A.go(I)V: its owner is an interface now"))
  }

  test("a method that became static is reported") {
    val now = Written.of("lib/A", methods = Seq(Declared("go", "(I)V", Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC)))
    assert(Written.problems(caller, now) == Seq("method lib.A.go(I)V is static now"))
  }

  test("a constructor is never inherited") {
    val maker  = user(_.visitMethodInsn(Opcodes.INVOKESPECIAL, "lib/A", "<init>", "(I)V", false))
    val parent = Written.of("lib/P", methods = Seq(Declared("<init>", "(I)V")))
    assert(Written.problems(maker, Written.of("lib/A", parent = "lib/P"), parent) == Seq("no method lib.A.<init>(I)V"))
  }

  test("a missing field, and a field of another type, are reported") {
    val reader = user(_.visitFieldInsn(Opcodes.GETFIELD, "lib/A", "size", "I"))
    assert(Written.problems(reader, Written.of("lib/A", fields = Seq(Declared("size", "I")))).isEmpty)
    val now = Written.of("lib/A", fields = Seq(Declared("size", "J")))
    assert(Written.problems(reader, now) == Seq("no field lib.A.size: I"))
  }

  test("the target of a method reference is checked") {
    val target = new Handle(Opcodes.H_INVOKEVIRTUAL, "lib/A", "go", "(I)V", false)
    val points = user(_.visitInvokeDynamicInsn("run", "(Llib/A;)Ljava/lang/Runnable;", metafactory, unit, target, unit))
    assert(Written.problems(points, Written.of("lib/A")) == Seq("no method lib.A.go(I)V"))
  }

  test("a lambda for an interface with another abstract method is reported") {
    val body   = new Handle(Opcodes.H_INVOKESTATIC, "ours/User", "body", "()V", false)
    val lambda = Written.of(
      "ours/User",
      methods = Seq(
        Declared("body", "()V", Opcodes.ACC_STATIC),
        Declared("run", "()V", code = _.visitInvokeDynamicInsn("go", "()Llib/F;", metafactory, unit, body, unit))
      )
    )
    def asking(names: String*) =
      Written.of(
        "lib/F",
        access = Written.interface,
        methods = names.map(Declared(_, "()V", Written.abstractMethod))
      )
    assert(Written.problems(lambda, asking("go")).isEmpty)
    assert(
      Written.problems(lambda, asking("go", "stop")) == Seq("a lambda for lib.F.go does not implement stop()V")
    )
    assert(Written.problems(lambda, asking("start")).nonEmpty)
  }
}
