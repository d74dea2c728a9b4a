// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.topicids

import java.lang.reflect.Field

/** Private fields of Kafka's client. Another version of the client may not have these fields. */
private[splice] object ClientFields {

  /** A field of an object's class.
    *
    * @throws java.lang.NoSuchFieldException
    *   if the class does not declare the field
    */
  def field(of: Object, name: String): Field = {
    val declared = of.getClass.getDeclaredField(name)
    declared.setAccessible(true)
    declared
  }

  /** The value at the end of a path of fields. */
  def value(of: Object, path: Seq[String]): Object =
    path.foldLeft(of)((inner, name) => field(inner, name).get(inner))
}
