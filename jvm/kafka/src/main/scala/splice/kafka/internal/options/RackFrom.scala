// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

/** The setting in which an executor finds the name of its rack (`rackFrom`), to fetch from the nearest replica
  * (KIP-392).
  */
sealed private[splice] trait RackFrom extends Product with Serializable {

  /** The rack of the executor that calls this method.
    *
    * @param environment
    *   the environment variables of the executor
    * @param configuration
    *   the Spark configuration of the executor
    */
  def rack(environment: String => Option[String], configuration: String => Option[String]): Option[String]
}

private[splice] object RackFrom {

  case object Nowhere extends RackFrom {
    override def rack(environment: String => Option[String], configuration: String => Option[String]): Option[String] =
      None
    override def toString: String = "none"
  }

  /** An environment variable. */
  final case class Environment(name: String) extends RackFrom {
    override def rack(environment: String => Option[String], configuration: String => Option[String]): Option[String] =
      environment(name).map(_.trim).filter(_.nonEmpty)
    override def toString: String = s"env:$name"
  }

  /** A setting of Spark's configuration. */
  final case class Configuration(key: String) extends RackFrom {
    override def rack(environment: String => Option[String], configuration: String => Option[String]): Option[String] =
      configuration(key).map(_.trim).filter(_.nonEmpty)
    override def toString: String = s"conf:$key"
  }
}
