// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

import scala.collection.mutable

import org.objectweb.asm.{ClassReader, ClassVisitor, ConstantDynamic, Handle, Label, MethodVisitor, Opcodes, Type}

/** References in the code and the declaration of a class, in the order of their first use. */
object References {
  def of(bytes: Array[Byte]): Seq[Reference] = where(bytes).map(_._2).distinct

  /** References of a class, each with the method that contains it, or None for the declaration. */
  def where(bytes: Array[Byte]): Seq[(Option[Member], Reference)] = {
    val found = mutable.LinkedHashSet.empty[(Option[Member], Reference)]
    new ClassReader(bytes).accept(new InClass(found), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES)
    found.toSeq
  }

  final private class InClass(found: mutable.Set[(Option[Member], Reference)]) extends ClassVisitor(Opcodes.ASM9) {
    override def visit(v: Int, access: Int, name: String, s: String, parent: String, interfaces: Array[String]): Unit =
      (Option(parent) ++ interfaces).foreach(found += None -> Reference.OfType(_))

    override def visitMethod(a: Int, n: String, d: String, s: String, exceptions: Array[String]): MethodVisitor = {
      val in = Some(Member(n, d, a))
      new InMethod(reference => found += in -> reference)
    }
  }

  final private class InMethod(found: Reference => Unit) extends MethodVisitor(Opcodes.ASM9) {
    override def visitTypeInsn(opcode: Int, name: String): Unit = add(Type.getObjectType(name))

    override def visitMultiANewArrayInsn(descriptor: String, dimensions: Int): Unit = add(Type.getType(descriptor))

    override def visitTryCatchBlock(start: Label, end: Label, handler: Label, caught: String): Unit =
      Option(caught).foreach(c => found(Reference.OfType(c)))

    override def visitFieldInsn(opcode: Int, owner: String, name: String, descriptor: String): Unit =
      found(Reference.OfField(owner, name, descriptor, opcode == Opcodes.GETSTATIC || opcode == Opcodes.PUTSTATIC))

    override def visitMethodInsn(opcode: Int, owner: String, name: String, descriptor: String, itf: Boolean): Unit =
      if (!owner.startsWith("["))
        found(Reference.OfMethod(owner, name, descriptor, opcode == Opcodes.INVOKESTATIC, itf))

    override def visitLdcInsn(value: Any): Unit = constant(value)

    override def visitInvokeDynamicInsn(name: String, descriptor: String, bootstrap: Handle, args: AnyRef*): Unit = {
      handle(bootstrap)
      args.foreach(constant)
      if (bootstrap.getOwner == "java/lang/invoke/LambdaMetafactory")
        args.headOption.collect { case erased: Type => erased.getDescriptor }.foreach { erased =>
          found(Reference.OfLambda(Type.getReturnType(descriptor).getInternalName, name, erased))
        }
    }

    private def constant(value: Any): Unit = value match {
      case t: Type if t.getSort == Type.OBJECT || t.getSort == Type.ARRAY => add(t)
      case h: Handle                                                      => handle(h)
      case c: ConstantDynamic                                             =>
        handle(c.getBootstrapMethod)
        (0 until c.getBootstrapMethodArgumentCount).foreach(i => constant(c.getBootstrapMethodArgument(i)))
      case _ => ()
    }

    private def handle(h: Handle): Unit = {
      val onField = h.getTag <= Opcodes.H_PUTSTATIC
      val static  = Set(Opcodes.H_GETSTATIC, Opcodes.H_PUTSTATIC, Opcodes.H_INVOKESTATIC)(h.getTag)
      found(
        if (onField) Reference.OfField(h.getOwner, h.getName, h.getDesc, static)
        else Reference.OfMethod(h.getOwner, h.getName, h.getDesc, static, h.isInterface)
      )
    }

    private def add(t: Type): Unit = {
      val element = if (t.getSort == Type.ARRAY) t.getElementType else t
      if (element.getSort == Type.OBJECT) found(Reference.OfType(element.getInternalName))
    }
  }
}
