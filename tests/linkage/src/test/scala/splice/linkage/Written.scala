// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

import org.objectweb.asm.{ClassWriter, MethodVisitor, Opcodes}

/** Writes class files of a library in several versions, and of classes that use the library. */
object Written {

  /** Method or field. The code of a method is only parsed, and never executed. */
  final case class Declared(
      name: String,
      descriptor: String,
      access: Int = Opcodes.ACC_PUBLIC,
      code: MethodVisitor => Unit = _.visitInsn(Opcodes.RETURN)
  )

  val abstractMethod: Int = Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT
  val interface: Int      = Opcodes.ACC_PUBLIC | Opcodes.ACC_INTERFACE | Opcodes.ACC_ABSTRACT

  def of(
      name: String,
      access: Int = Opcodes.ACC_PUBLIC,
      parent: String = "java/lang/Object",
      interfaces: Seq[String] = Nil,
      methods: Seq[Declared] = Nil,
      fields: Seq[Declared] = Nil
  ): Array[Byte] = {
    val writer = new ClassWriter(0)
    writer.visit(Opcodes.V17, access, name, None.orNull, parent, interfaces.toArray)
    fields.foreach(f => writer.visitField(f.access, f.name, f.descriptor, None.orNull, None.orNull).visitEnd())
    methods.foreach { m =>
      val method = writer.visitMethod(m.access, m.name, m.descriptor, None.orNull, Array.empty[String])
      if ((m.access & Opcodes.ACC_ABSTRACT) == 0) {
        method.visitCode()
        m.code(method)
        method.visitMaxs(9, 9)
      }
      method.visitEnd()
    }
    writer.visitEnd()
    writer.toByteArray
  }

  /** Problems of a class with other classes and the JDK. */
  def problems(ours: Array[Byte], others: Array[Byte]*): Seq[String] = {
    val known = (ours +: others).map(ClassFile.read).map(c => c.name -> c).toMap
    val jdk   = new Jars(Nil)
    new Linkage(new World(name => known.get(name).orElse(jdk.world.get(name)))).problems(ours).map(_.what)
  }
}
