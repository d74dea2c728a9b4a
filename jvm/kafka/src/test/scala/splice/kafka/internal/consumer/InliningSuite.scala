// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.lang.management.ManagementFactory

import com.sun.management.HotSpotDiagnosticMXBean
import org.apache.xbean.asm9.commons.CodeSizeEvaluator
import org.apache.xbean.asm9.{ClassReader, ClassVisitor, MethodVisitor, Opcodes}
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.reader.SlotReader

/** Tests of the lengths of methods that the JIT compiler must not inline. */
final class InliningSuite extends AnyFunSuite {

  test("a poll is too long to be inlined into the loop over rows") {
    val inlined = ManagementFactory.getPlatformMXBean(classOf[HotSpotDiagnosticMXBean]).getVMOption("FreqInlineSize")
    assert(leastCode(classOf[SlotReader], "poll") > inlined.getValue.toInt)
  }

  /** Minimum number of bytecode bytes of a method. */
  private def leastCode(of: Class[_], method: String): Int = {
    var least = 0
    new ClassReader(of.getName).accept(
      new ClassVisitor(Opcodes.ASM9) {
        override def visitMethod(
            access: Int,
            name: String,
            descriptor: String,
            signature: String,
            exceptions: Array[String]
        ): MethodVisitor = new CodeSizeEvaluator(
          Opcodes.ASM9,
          super.visitMethod(access, name, descriptor, signature, exceptions)
        ) {
          override def visitEnd(): Unit = {
            super.visitEnd()
            if (name == method) least = getMinSize
          }
        }
      },
      0
    )
    least
  }
}
