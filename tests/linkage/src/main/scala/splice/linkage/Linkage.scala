// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.linkage

import org.objectweb.asm.Opcodes

/** Failure that would occur when the class is linked or the call is executed.
  *
  * @param in
  *   the class of Splice, by its internal name
  */
final case class Problem(in: String, what: String) {
  override def toString: String = s"${in.replace('/', '.')}: $what"
}

/** Checks that classes link against other library versions than the versions of their compilation. */
final class Linkage(world: World) {

  /** Failures of one class: in its calls, in its overrides and in its abstract methods. */
  def problems(bytes: Array[Byte]): Seq[Problem] = {
    val ours  = ClassFile.read(bytes)
    val calls = References.where(bytes).collect {
      case (in, reference) if !in.exists(forwards(ours, _, reference)) => reference
    }
    val said = calls.flatMap(problem) ++ overrides(ours) ++ (if (ours.isConcrete) abstracts(ours) else Nil)
    said.distinct.map(Problem(ours.name, _))
  }

  /** True for a forwarder without a parent method. scalac adds a forwarder to a class for every default method of its
    * parents at compile time. If no parent of this version has that method, no code can call the forwarder.
    */
  private def forwards(ours: ClassFile, in: Member, reference: Reference): Boolean = reference match {
    case Reference.OfMethod(owner, name, _, _, _) if name == in.name || name == s"${in.name}$$" =>
      val above = (world.line(ours) ++ world.interfaces(ours)).filterNot(_ == ours)
      above.exists(_.name == owner) && !above.exists(_.method(in.name, in.descriptor).isDefined)
    case _ => false
  }

  private def problem(reference: Reference): Option[String] =
    if (reference.owner.startsWith("[")) None
    else
      world.get(reference.owner) match {
        case None                                                => Some(s"no class ${dotted(reference.owner)}")
        case Some(owner) if world.missingParents(owner).nonEmpty =>
          Some(s"no class ${world.missingParents(owner).map(dotted).mkString(", ")}, above ${dotted(owner.name)}")
        case Some(owner) => member(owner, reference)
      }

  private def member(owner: ClassFile, reference: Reference): Option[String] = reference match {
    case Reference.OfType(_)                            => None
    case Reference.OfField(_, name, descriptor, static) =>
      found(s"field ${dotted(owner.name)}.$name: $descriptor", world.field(owner, name, descriptor), static)
    case Reference.OfMethod(_, name, descriptor, static, onInterface) =>
      val what = s"method ${dotted(owner.name)}.$name$descriptor"
      if (onInterface != owner.isInterface) Some(s"$what: its owner is ${kind(owner)} now")
      else if (signaturePolymorphic(owner)) None
      else found(what, world.method(owner, name, descriptor), static)
    case Reference.OfLambda(_, name, descriptor) =>
      val others = world
        .abstractMethods(owner)
        .map(_._2)
        .filterNot(m => (m.name == name && m.descriptor == descriptor) || inObject(m))
        .filter(m => world.implementation(owner, m.name, m.descriptor).isEmpty)
      others.headOption.map(m => s"a lambda for ${dotted(owner.name)}.$name does not implement ${m.signature}")
  }

  private def found(what: String, member: Option[Member], static: Boolean): Option[String] = member match {
    case None                                          => Some(s"no $what")
    case Some(m) if m.is(Opcodes.ACC_STATIC) != static => Some(s"$what is ${if (static) "not " else ""}static now")
    case Some(_)                                       => None
  }

  private def abstracts(ours: ClassFile): Seq[String] =
    world.abstractMethods(ours).collect {
      case (declaring, m) if world.implementation(ours, m.name, m.descriptor).isEmpty =>
        s"does not implement ${dotted(declaring.name)}.${m.signature}"
    }

  private def overrides(ours: ClassFile): Seq[String] = {
    val above     = world.line(ours).drop(1)
    val sealedNow = above.headOption.filter(_.is(Opcodes.ACC_FINAL)).map(c => s"extends ${dotted(c.name)}, final now")
    val methods   = for {
      parent <- above
      mine   <- ours.methods
      theirs <- parent.method(mine.name, mine.descriptor)
      if theirs.is(Opcodes.ACC_FINAL) && !theirs.is(Opcodes.ACC_PRIVATE) && !theirs.is(Opcodes.ACC_STATIC)
    } yield s"overrides ${dotted(parent.name)}.${theirs.signature}, final now"
    sealedNow.toSeq ++ methods
  }

  private def inObject(m: Member) =
    world.get("java/lang/Object").exists(_.method(m.name, m.descriptor).isDefined)

  private def signaturePolymorphic(owner: ClassFile) =
    owner.name == "java/lang/invoke/MethodHandle" || owner.name == "java/lang/invoke/VarHandle"

  private def kind(c: ClassFile) = if (c.isInterface) "an interface" else "a class"

  private def dotted(name: String) = name.replace('/', '.')
}
