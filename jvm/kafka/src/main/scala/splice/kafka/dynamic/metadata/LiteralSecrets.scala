// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.metadata

import splice.source.Secrets

/** Tells secrets that stand in a client's property as they are from references to them. */
private[metadata] object LiteralSecrets {

  private val jaasOption = "([A-Za-z._-]+)\\s*=\\s*\"([^\"]*)\"".r

  /** Whether the value of a property is, or holds, a secret. */
  def in(key: String, value: String): Boolean =
    if (key.endsWith("jaas.config"))
      !Secrets.isReference(value) && jaasOption.findAllMatchIn(value).exists(m => literal(m.group(1), m.group(2)))
    else literal(key, value)

  private def literal(key: String, value: String): Boolean = Secrets.isSecret(key) && !Secrets.isReference(value)
}
