// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.lang.reflect.InvocationTargetException
import java.util.UUID

import scala.collection.concurrent.TrieMap
import scala.jdk.CollectionConverters._

import splice.kafka.dynamic.KafkaMetadataService
import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.internal.options.DynamicOptions
import splice.source.errors.{OptionErrors, SpliceOptionException}
import splice.source.options.SourceOptions
import splice.source.options.SourceOptions.fold

/** Metadata services of users: the class that `metadata.class` names, and objects that a program passes to a builder.
  * Any thread may use this object.
  */
private[dynamic] object UserMetadataServices {

  private val known = TrieMap.empty[String, KafkaMetadataService]

  /** Registers a service until the process ends, because a query may be started again.
    *
    * @return
    *   the value of `metadata.instance`
    */
  def register(service: KafkaMetadataService): String = {
    val name = s"${service.getClass.getName}-${UUID.randomUUID.toString.take(8)}"
    known.update(name, service)
    name
  }

  /** Returns the service that was registered under a value of `metadata.instance`. */
  def registered(name: String): KafkaMetadataService = known.getOrElse(
    name,
    throw MetadataErrors.unavailable(
      s"the metadata service $name",
      "this driver does not have the service. Run the program that builds the source in the driver's process, or set 'metadata.class'"
    )
  )

  /** Finds the class that `metadata.class` names.
    *
    * @return
    *   creates an instance
    * @throws splice.source.errors.SpliceOptionException
    *   if the class does not exist, is not a metadata service, or has no constructor that Splice can call
    */
  def ofClass(options: SourceOptions): () => KafkaMetadataService = {
    val name    = options(DynamicOptions.MetadataClass)
    val service = classOf[KafkaMetadataService]
    // Only the class loader of a session has the jars of the session.
    val loader = Option(Thread.currentThread.getContextClassLoader).getOrElse(service.getClassLoader)
    val loaded =
      try Class.forName(name, false, loader)
      catch {
        case e @ (_: ClassNotFoundException | _: LinkageError) =>
          throw invalid(
            options,
            name,
            s"the driver cannot load the class ($e). Add the jar of the class by spark.jars, --jars or --packages"
          )
      }
    if (!service.isAssignableFrom(loaded))
      throw invalid(options, name, s"the class does not implement ${service.getName}")
    def constructor(parameters: Class[_]*) = loaded.getConstructors.find(_.getParameterTypes.sameElements(parameters))
    val settings                           = new java.util.HashMap(options.toMap.filter(isOfMetadata).asJava)
    val created                            =
      if (java.lang.reflect.Modifier.isAbstract(loaded.getModifiers)) None
      else
        constructor(classOf[java.util.Map[_, _]]).map(c => () => c.newInstance(settings))
          .orElse(constructor().map(c => () => c.newInstance()))
    val make = created.getOrElse(throw invalid(
      options,
      name,
      "the class is abstract, or has no public constructor without parameters or with one java.util.Map"
    ))
    () =>
      try service.cast(make())
      catch {
        case e: InvocationTargetException =>
          throw MetadataErrors.notCreated(options.name(DynamicOptions.MetadataClass.key), name, e.getCause)
      }
  }

  private def isOfMetadata(option: (String, String)): Boolean = fold(option._1.trim).startsWith("metadata.")

  private def invalid(options: SourceOptions, name: String, why: String): SpliceOptionException =
    OptionErrors.invalidValue(
      options.name(DynamicOptions.MetadataClass.key),
      name,
      DynamicOptions.MetadataClass.kind.allowed,
      s"${DynamicOptions.MetadataClass.doc} This class is not usable: $why"
    )
}

/** Returns a [[MetadataDocument]] as text. Python implements this trait, so only strings pass between Python and the
  * JVM.
  */
private[splice] trait MetadataCallback {
  def document(): String
}

/** Callbacks of this driver by name. The names are valid in this process only. Any thread may use this object. */
private[splice] object MetadataCallbacks {

  private val known = TrieMap.empty[String, MetadataCallback]

  /** Registers a callback until the process ends, because a query may be started again. */
  def register(name: String, callback: MetadataCallback): Unit = known.update(name, callback)

  private[dynamic] def find(name: String): Option[MetadataCallback] = known.get(name)
}
