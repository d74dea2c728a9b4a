// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.login

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Clock
import java.util.{Base64, List => JList, Map => JMap, Set => JSet}
import javax.security.auth.callback.{Callback, UnsupportedCallbackException}
import javax.security.auth.login.AppConfigurationEntry

import scala.jdk.CollectionConverters._

import org.apache.kafka.common.security.auth.{AuthenticateCallbackHandler, SaslExtensionsCallback}
import org.apache.kafka.common.security.oauthbearer.{OAuthBearerToken, OAuthBearerTokenCallback}

/** Returns an unsigned bearer token for a user and a secret of the login line. Handlers of cloud providers have the
  * same interface.
  */
final private[splice] class TokenOfSecret extends AuthenticateCallbackHandler {

  private var options: Map[String, String] = Map.empty

  override def configure(
      settings: JMap[String, _],
      mechanism: String,
      entries: JList[AppConfigurationEntry]
  ): Unit = options = entries.asScala.flatMap(_.getOptions.asScala).map { case (k, v) => k -> v.toString }.toMap

  override def handle(callbacks: Array[Callback]): Unit = callbacks.foreach {
    case requested: OAuthBearerTokenCallback if options.get("clientSecret").exists(_.nonEmpty) =>
      requested.token(new TokenOfSecret.Token(options("user"), Clock.systemUTC().millis()))
    case requested: OAuthBearerTokenCallback => requested.error("no_secret", "the login line has no clientSecret", "")
    case _: SaslExtensionsCallback           => ()
    case other                               => throw new UnsupportedCallbackException(other)
  }

  override def close(): Unit = ()
}

private[splice] object TokenOfSecret {

  private val LifetimeMillis = 3600000L

  final class Token(user: String, now: Long) extends OAuthBearerToken {
    override def principalName: String       = user
    override def lifetimeMs: Long            = now + LifetimeMillis
    override def startTimeMs: java.lang.Long = now
    override def scope: JSet[String]         = java.util.Set.of()

    override def value: String = {
      def part(json: String) = Base64.getUrlEncoder.withoutPadding.encodeToString(json.getBytes(UTF_8))
      val claims             = s"""{"sub":"$user","iat":${now / 1000},"exp":${lifetimeMs / 1000}}"""
      s"""${part("""{"alg":"none"}""")}.${part(claims)}."""
    }
  }
}
