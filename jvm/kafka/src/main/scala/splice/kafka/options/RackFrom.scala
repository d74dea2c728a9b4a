// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

/** Where an executor finds the name of the rack that it stands in (`rackFrom`), for fetching from the nearest replica (KIP-392). */
sealed private[splice] trait RackFrom extends Product with Serializable {

  /** The rack, asked on the executor.
    *
    * @param environment
    *   its environment variables
    * @param configuration
    *   its Spark configuration
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
