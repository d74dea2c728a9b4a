// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

import org.objectweb.asm.{ClassReader, ClassVisitor, FieldVisitor, MethodVisitor, Opcodes}

/** Method or field that a class file declares. */
final case class Member(name: String, descriptor: String, access: Int) {
  def is(flag: Int): Boolean = (access & flag) != 0

  def signature: String = name + (if (descriptor.startsWith("(")) descriptor else s": $descriptor")
}

/** Parents and members of a class file. Names are internal names, with slashes. */
final case class ClassFile(
    name: String,
    access: Int,
    parent: Option[String],
    interfaces: Seq[String],
    methods: Seq[Member],
    fields: Seq[Member]
) {
  def is(flag: Int): Boolean = (access & flag) != 0

  def isInterface: Boolean = is(Opcodes.ACC_INTERFACE)

  def isConcrete: Boolean = !is(Opcodes.ACC_INTERFACE) && !is(Opcodes.ACC_ABSTRACT)

  def parents: Seq[String] = parent.toSeq ++ interfaces

  def method(name: String, descriptor: String): Option[Member] =
    methods.find(m => m.name == name && m.descriptor == descriptor)

  def field(name: String, descriptor: String): Option[Member] =
    fields.find(f => f.name == name && f.descriptor == descriptor)
}

object ClassFile {
  def read(bytes: Array[Byte]): ClassFile = {
    val declaration = new Declaration
    new ClassReader(bytes).accept(declaration, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES)
    declaration.result
  }

  /** Collects the callbacks of ASM. */
  final private class Declaration extends ClassVisitor(Opcodes.ASM9) {
    private var header  = ClassFile("", 0, None, Nil, Nil, Nil)
    private val methods = Seq.newBuilder[Member]
    private val fields  = Seq.newBuilder[Member]

    def result: ClassFile = header.copy(methods = methods.result(), fields = fields.result())

    override def visit(
        version: Int,
        access: Int,
        name: String,
        signature: String,
        parent: String,
        interfaces: Array[String]
    ): Unit = header = ClassFile(name, access, Option(parent), interfaces.toSeq, Nil, Nil)

    override def visitMethod(
        access: Int,
        name: String,
        descriptor: String,
        signature: String,
        exceptions: Array[String]
    ): MethodVisitor = {
      methods += Member(name, descriptor, access)
      super.visitMethod(access, name, descriptor, signature, exceptions)
    }

    override def visitField(
        access: Int,
        name: String,
        descriptor: String,
        signature: String,
        value: Any
    ): FieldVisitor = {
      fields += Member(name, descriptor, access)
      super.visitField(access, name, descriptor, signature, value)
    }
  }
}
