// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.nio.file.Files

import scala.collection.immutable.SortedSet
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.AdminClientConfig
import org.apache.kafka.common.security.JaasContext
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.StreamMetadata
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions

/** Tests of attacks by the author of a metadata document. */
final class DocumentPropertiesSuite extends AnyFunSuite {

  private val provider = "org.apache.kafka.common.config.provider."

  /** Options of a query that permits limited use of its config providers in metadata. */
  private val query = Map(
    "config.providers"                             -> "file,folder,env,open,vault",
    "config.providers.file.class"                  -> s"${provider}FileConfigProvider",
    "config.providers.file.param.allowed.paths"    -> "/run/secrets, /etc/kafka",
    "config.providers.folder.class"                -> s"${provider}DirectoryConfigProvider",
    "config.providers.folder.param.allowed.paths"  -> "/run/secrets",
    "config.providers.env.class"                   -> s"${provider}EnvVarConfigProvider",
    "config.providers.env.param.allowlist.pattern" -> "KAFKA_.*",
    "config.providers.open.class"                  -> s"${provider}FileConfigProvider",
    "config.providers.vault.class"                 -> "example.VaultConfigProvider"
  )

  private def read(any: Boolean, servers: String, literal: Boolean, properties: (String, String)*): StreamMetadata = {
    def quoted(text: String) = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
    val lines = properties.map { case (key, value) => s"      ${quoted(key)}: ${quoted(value)}\n" }.mkString
    val text  = "version: 1\nclusters:\n  east:\n    bootstrapServers: " + quoted(servers) +
      s"\n    properties:\n$lines" + "streams:\n  orders: {east: [orders]}\n"
    MetadataDocument.read(
      "streams.yaml",
      text,
      new DocumentProperties(any, new LiteralSecrets(literal, _ => query), _ => query)
    )
  }

  private def accepted(properties: (String, String)*): Unit = {
    val found = read(any = false, "east:9092", literal = false, properties: _*).clusters("east").properties
    assert(found == Map(properties: _*) + ("bootstrap.servers" -> "east:9092"))
  }

  private def refused(properties: (String, String)*): String = {
    val error =
      intercept[SpliceException](read(any = false, "east:9092", literal = false, properties: _*))
    assert(error.getCondition == "SPLICE_METADATA.INVALID_DOCUMENT" && error.getMessage.contains("line 6"), properties)
    error.getMessage
  }

  private def reference(what: String): String = "$" + s"{$what}"

  private def login(module: String, options: String = ""): (String, String) =
    "sasl.jaas.config" -> s"$module required $options;"

  private val plain    = "org.apache.kafka.common.security.plain.PlainLoginModule"
  private val scram    = "org.apache.kafka.common.security.scram.ScramLoginModule"
  private val bearer   = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
  private val kerberos = "com.sun.security.auth.module.Krb5LoginModule"

  test("a secret of an allowed reference sets no other option of the login line") {
    val in = Files.createTempDirectory("secrets")
    Files.writeString(in.resolve("password"), "a\"; b=\\'c")
    // Kafka's providers fail if an allowed folder does not exist.
    val own = query.filter(_._1.startsWith("config.providers.folder.")) ++
      Map("config.providers" -> "folder", "config.providers.folder.param.allowed.paths" -> in.toString)
    val line    = login(plain, s"""username="alice" password="${reference(s"folder:$in:password")}"""")
    val cluster = MetadataDocument.read(
      "streams.yaml",
      s"version: 1\nclusters: {east: {bootstrapServers: 'east:9092', properties: {${line._1}: '${line._2}'}}}\n" +
        "streams: {orders: {east: [orders]}}",
      new DocumentProperties(false, new LiteralSecrets(false, _ => own), _ => own)
    ).clusters("east")
    val options = Map("metadata.file" -> "unused", "streams" -> "orders") ++ own.map { case (k, v) => s"kafka.$k" -> v }
    val client  = DynamicSettings(SourceOptions(options)).of(cluster, SortedSet("orders")).client
    val entry   = JaasContext.loadClientContext(new AdminClientConfig(client.admin.asJava).values)
      .configurationEntries.get(0)
    assert(entry.getLoginModuleName == plain)
    assert(entry.getOptions.asScala == Map("username" -> "alice", "password" -> "a\"; b=\\'c"))
  }

  test("metadata cannot load classes, run commands, send requests, or set properties that change the rows of a query") {
    Seq(
      "config.providers"                          -> "env",
      "Config.Providers"                          -> "env",
      "config.providers.env.class"                -> s"${provider}EnvVarConfigProvider",
      "config.providers.file.param.allowed.paths" -> "/",
      "sasl.oauthbearer.token.endpoint.url"       -> "file:///etc/passwd",
      "sasl.oauthbearer.jwks.endpoint.url"        -> "file:///etc/passwd",
      "sasl.login.class"                          -> "example.Login",
      "sasl.login.callback.handler.class"         -> "example.Handler",
      "sasl.client.callback.handler.class"        -> "example.Handler",
      "metric.reporters"                          -> "example.Reporter",
      "ssl.engine.factory.class"                  -> "example.Factory",
      "security.providers"                        -> "example.Provider",
      "sasl.kerberos.kinit.cmd"                   -> "/tmp/kinit",
      "ssl.endpoint.identification.algorithm"     -> "none",
      "partition.assignment.strategy"             -> "example.Assignor",
      "client.id"                                 -> reference("env:KAFKA_USER"),
      "group.id"                                  -> "other",
      "example.plugin.setting"                    -> "x"
    ).foreach { case (key, value) =>
      val message = refused(key -> value)
      assert(message.contains(s"'clusters.east.properties.$key'") && message.contains(s"'kafka.$key'"), key)
      assert(message.contains("'metadataProperties' to 'any'"), key)
    }
  }

  test("forbidden properties are an error with their line, even with metadataProperties=any") {
    Seq("enable.auto.commit" -> "true", "auto.offset.reset" -> "latest", "Interceptor.Classes" -> "example.I").foreach {
      case (key, value) =>
        assert(!refused(key -> value).contains("metadataProperties"), key)
        val error = intercept[SpliceException](read(any = true, "east:9092", literal = false, key -> value))
        assert(error.getMessage.contains(s"line 6: 'clusters.east.properties.$key'"), key)
    }
  }

  test("metadata may set protocols, logins, stores, timeouts, the rack and the isolation level") {
    accepted(
      "security.protocol"                  -> "SASL_SSL",
      "sasl.mechanism"                     -> "PLAIN",
      "ssl.keystore.location"              -> "/etc/kafka/client.p12",
      "ssl.keystore.type"                  -> "PKCS12",
      "ssl.keystore.password"              -> reference("file:/run/secrets/east:store"),
      "ssl.key.password"                   -> reference("folder:/run/secrets:key"),
      "ssl.truststore.location"            -> "/etc/kafka/trust.p12",
      "ssl.truststore.type"                -> "PKCS12",
      "ssl.truststore.password"            -> reference("env:KAFKA_TRUST"),
      "request.timeout.ms"                 -> "10000",
      "default.api.timeout.ms"             -> "20000",
      "socket.connection.setup.timeout.ms" -> "5000",
      "connections.max.idle.ms"            -> "60000",
      "client.rack"                        -> "rack-1",
      "isolation.level"                    -> "read_committed"
    )
  }

  test("a login must use one of Kafka's modules or Kerberos, according to Kafka's parser") {
    val password = "password=\"" + reference("file:/run/secrets/east:password") + "\""
    Seq(
      login(plain, s"username=me $password"),
      login(scram, s"username='me' $password"),
      login(bearer),
      login(kerberos, "useKeyTab=true keyTab=\"/etc/me.keytab\" principal=\"me@R\""),
      "sasl.jaas.config" -> s"/* example.Evil */ $plain required username=me;",
      "sasl.jaas.config" -> reference("file:/run/secrets/east:jaas")
    ).foreach(accepted(_))
    Seq(
      login("com.sun.security.auth.module.JndiLoginModule", "user.provider.url='ldap://example'"),
      login("example.Evil"),
      "sasl.jaas.config" -> s"$plain required; example.Evil required;",
      "sasl.jaas.config" -> s"/* $plain required */ example.Evil required;",
      "sasl.jaas.config" -> (s"$plain required a=\"/*\" /*\"*/ ; example.Evil required b=\"*/\" ;"),
      "sasl.jaas.config" -> s"$plain",
      "sasl.jaas.config" -> ";"
    ).foreach { line =>
      val message = refused(line)
      assert(message.contains("login module that metadata may use") && message.contains(plain), line)
    }
  }

  test("a login may set all known options of its module") {
    def secret(option: String) = s"$option='" + reference("file:/run/secrets/east:password") + "'"
    Seq(
      login(plain, "username=me " + secret("password")),
      login(scram, "username=me tokenauth=true " + secret("password")),
      login(bearer, "clientId=me scope=kafka extension_traceId='7' " + secret("clientSecret")),
      login(
        bearer,
        "unsecuredLoginStringClaim_sub=me unsecuredLoginNumberClaim_n='1' unsecuredLoginListClaim_scope='|a|b' " +
          "unsecuredLoginExtension_traceId='7' unsecuredLoginPrincipalClaimName=sub " +
          "unsecuredLoginScopeClaimName=scope unsecuredLoginLifetimeSeconds='60'"
      ),
      login(
        kerberos,
        "principal='me@R' serviceName=kafka isInitiator=true doNotPrompt=true refreshKrb5Config=true debug=false " +
          "useKeyTab=true keyTab='/etc/me.keytab' useTicketCache=true ticketCache='/tmp/cache' renewTGT=true " +
          "storeKey=true useFirstPass=true tryFirstPass=false storePass=false clearPass=false"
      )
    ).foreach(accepted(_))
  }

  test("a login must not set other options, which may load classes, read files or send requests") {
    Seq(
      (bearer, "clientId=\"a\"", "config.providers", "env"),
      (bearer, s"config.providers=env config.providers.env.class='${provider}E'", "config.providers.env.class", "Env"),
      (bearer, "clientId=a", "ssl.engine.factory.class", "example.Factory"),
      (bearer, "clientId=a", "ssl.truststore.location", "/etc/passwd"),
      (bearer, "clientId=a", "sasl.oauthbearer.token.endpoint.url", "http://example"),
      (bearer, "scope=a", "clientid", "hunter22"),
      (bearer, "scope=a", "unsecuredLoginOther", "hunter22"),
      (plain, "username=me", "tokenauth", "true"),
      (plain, "username=me", "User", "hunter22"),
      (plain, "username=me", "", "hunter22"),
      (scram, "username=me", "mechanism", "hunter22"),
      (kerberos, "useKeyTab=true", "user.provider.url", "ldap://example")
    ).foreach { case (module, others, option, value) =>
      val message = refused(login(module, s"$others \"$option\"=\"$value\""))
      assert(message.contains(s"'$option'") && message.contains(s"options of the login module $module"), option)
      assert(message.contains("'clusters.east.properties.sasl.jaas.config'"), option)
      assert(message.contains("'cluster.east.kafka.sasl.jaas.config'"), option)
      assert(message.contains("'metadataProperties' to 'any'"), option)
      assert(!message.contains(s"=$value") && !message.contains(s"'$value'"), option)
      assert(!message.contains("hunter") && !message.contains("example") && !message.contains("passwd"), option)
    }
    val message = refused(login(
      bearer,
      s"clientId=\"a\" config.providers=\"env\" config.providers.env.class=\"${provider}EnvVarConfigProvider\""
    ))
    assert(message.contains("'config.providers', 'config.providers.env.class'"))
    assert(message.contains("clientId, clientSecret, scope"))
    assert(!message.contains("EnvVarConfigProvider"))
    // Kafka's parser returns null as the name.
    assert(refused(login(plain, "username=me % = hunter22")).contains("metadata may not set ''"))
  }

  test("a reference without a value does not change the module or the options of a login") {
    val jndi = "com.sun.security.auth.module.JndiLoginModule required"
    Seq(
      "sasl.jaas.config" -> ("/*" + reference(s"file:/run/secrets/east:*/ $jndi; // ") + s"*/ $plain required;"),
      "sasl.jaas.config" -> ("/* *" + reference("file:/run/secrets/east:path") + s" $jndi; // */ $plain required;"),
      login(bearer, "scope=\"" + reference("env:KAFKA_\" config.providers=\"env\" extension_a=\"") + "\""),
      login(bearer, "scope='" + reference("env:KAFKA_' config.providers='env' extension_a='") + "'"),
      login(bearer, "\"extension_" + reference("env:KAFKA_A") + "\"=a")
    ).foreach { line =>
      val message = refused(line)
      assert(message.contains("must be in the value of an option"), line)
    }
    accepted(login(bearer, "scope='a-" + reference("env:KAFKA_A") + "-" + reference("env:KAFKA_B") + "'"))
  }

  test("references may use only files and variables that the query permits") {
    def password(of: String) = login(plain, "username=me password=\"" + reference(of) + "\"")
    Seq("file:/etc/kafka/east:p", "folder:/run/secrets:p", "env:KAFKA_P", "vault:anything:p")
      .foreach(of => accepted(password(of)))
    Seq(
      "file:/etc/passwd:root",
      "file:/run/secrets/../../etc/passwd:root",
      "folder:/etc:passwd",
      "open:/run/secrets/east:p"
    )
      .foreach { of =>
        val message = refused(password(of))
        assert(message.contains(s"the value refers to '${of.split(':')(1)}'"), of)
        assert(message.contains(s"'kafka.config.providers.${of.split(':')(0)}.param.allowed.paths'"), of)
      }
    assert(
      refused(password("env:AWS_SECRET_ACCESS_KEY")).contains("'kafka.config.providers.env.param.allowlist.pattern'")
    )
    // The reference is the whole login line, or is next to a permitted reference.
    assert(refused("sasl.jaas.config" -> reference("file:/etc/passwd:root")).contains("'/etc/passwd'"))
    val two = reference("env:KAFKA_P") + reference("env:HOME")
    assert(refused("ssl.key.password" -> two).contains("'HOME'"))
  }

  test("only secrets may contain references, because clients send other properties to servers") {
    Seq("client.rack", "security.protocol", "ssl.truststore.location", "isolation.level").foreach { key =>
      assert(refused(key -> reference("env:KAFKA_P")).contains("the value may not contain a reference"), key)
    }
    val error = intercept[SpliceException](
      read(any = false, reference("env:KAFKA_P") + ".example:9092", literal = false, "client.rack" -> "r")
    )
    assert(error.getMessage.contains("line 4: 'clusters.east.bootstrapServers'"))
    assert(error.getMessage.contains("the value may not contain a reference"))
  }

  test("with metadataProperties=any, metadata sets each property that a query may set") {
    val providers = Seq("config.providers" -> "own", "config.providers.own.class" -> "example.Provider")
    Seq(login("example.Login"), login(bearer, "clientId=a config.providers=env")).foreach { line =>
      val own   = providers :+ line
      val found = read(any = true, "east:9092", literal = false, own: _*).clusters("east").properties
      assert(found == Map(own: _*) + ("bootstrap.servers" -> "east:9092"))
    }
  }

  test("an error does not contain a secret") {
    val line    = s"$plain required username=me password=hunter22"
    val message = refused("sasl.jaas.config" -> line)
    assert(!message.contains("hunter"))
    val error = intercept[SpliceException](read(any = false, "e:1", literal = true, "sasl.jaas.config" -> line))
    assert(error.getMessage.contains("login module") && !error.getMessage.contains("hunter"))
  }
}
