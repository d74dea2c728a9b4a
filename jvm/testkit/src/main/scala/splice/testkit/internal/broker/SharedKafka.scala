// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.broker

import splice.testkit.KafkaBroker

/** Two clusters that the suites of one JVM share, with one broker each. The brokers end with the JVM.
  *
  * A suite that uses a shared broker neither stops the broker nor changes its settings. The names of its topics differ
  * from the names in other suites of its module. The brokers create missing topics on request, which is Kafka's
  * default, and have one user with a password.
  */
private[splice] object SharedKafka {

  val User     = "reader"
  val Password = "secret"

  lazy val east: KafkaBroker = start()
  lazy val west: KafkaBroker = start()

  private def start() = KafkaBroker.startGuarded(Map(User -> Password), "auto.create.topics.enable" -> "true")
}
