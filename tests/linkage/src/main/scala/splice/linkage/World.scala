// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

import org.objectweb.asm.Opcodes

/** Classes at run time, with the JVM's resolution of their members (JVMS 5.4.3).
  *
  * @param find
  *   returns a class by its internal name
  */
final class World(find: String => Option[ClassFile]) {
  def get(name: String): Option[ClassFile] = find(name)

  /** The class, then its parents up to `Object`. */
  def line(of: ClassFile): Seq[ClassFile] =
    Iterator.unfold(Option(of))(_.map(c => (c, c.parent.flatMap(find)))).toSeq

  /** Interfaces of a class and of its parents, without duplicates. */
  def interfaces(of: ClassFile): Seq[ClassFile] = {
    def above(c: ClassFile): Seq[ClassFile] = c.interfaces.flatMap(find).flatMap(i => i +: above(i))
    line(of).flatMap(above).distinctBy(_.name)
  }

  /** Missing parents of a class. A class with a missing parent cannot be checked further. */
  def missingParents(of: ClassFile)
      : Seq[String] = (line(of) ++ interfaces(of)).flatMap(_.parents).distinct.filter(find(_).isEmpty)

  def field(owner: ClassFile, name: String, descriptor: String): Option[Member] =
    (line(owner) ++ interfaces(owner)).flatMap(_.field(name, descriptor)).headOption

  def method(owner: ClassFile, name: String, descriptor: String): Option[Member] = {
    val inherited = if (name == "<init>") Seq(owner) else line(owner) ++ interfaces(owner)
    inherited.flatMap(_.method(name, descriptor)).headOption
  }

  /** Method that a call on an instance of the class executes, or None if the call throws an AbstractMethodError. */
  def implementation(of: ClassFile, name: String, descriptor: String): Option[Member] = {
    val inLine = line(of).flatMap(_.method(name, descriptor)).find(m => !m.is(Opcodes.ACC_STATIC))
    inLine match {
      case Some(found) => Some(found).filterNot(_.is(Opcodes.ACC_ABSTRACT))
      case None        =>
        val declaring = interfaces(of).filter(_.method(name, descriptor).isDefined)
        declaring
          .filterNot(i => declaring.exists(other => other != i && interfaces(other).contains(i)))
          .flatMap(_.method(name, descriptor))
          .find(m => !m.is(Opcodes.ACC_ABSTRACT) && !m.is(Opcodes.ACC_STATIC))
    }
  }

  /** Abstract methods that a class inherits, each with its declaring class. */
  def abstractMethods(of: ClassFile): Seq[(ClassFile, Member)] = (line(of) ++ interfaces(of))
    .flatMap(c => c.methods.filter(_.is(Opcodes.ACC_ABSTRACT)).map(c -> _))
    .distinctBy { case (_, m) => (m.name, m.descriptor) }
}
