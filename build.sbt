// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

CommonSettings.build
Publishing.coordinates

lazy val source = module("source").settings(CommonSettings.onSpark, Publishing.module)

lazy val coordinator = module("coordinator").dependsOn(source).settings(CommonSettings.onSpark, Publishing.module)

lazy val hybrid = module("hybrid")
  .dependsOn(source, testkit % Test, files % Test, tables % Test, dynamicKafka % Test, kafka % "test->test")
  .settings(CommonSettings.onSpark)

lazy val files = module("files").dependsOn(source, testkit % Test).settings(CommonSettings.onSpark)

lazy val tables = module("tables")
  .dependsOn(source, testkit % Test)
  .settings(CommonSettings.onSpark, libraryDependencies ++= Dependencies.delta.map(_ % Test))

lazy val streams = module("streams").dependsOn(source, testkit % Test, hybrid % Test).settings(CommonSettings.onSpark)

lazy val kafka = module("kafka")
  .dependsOn(source, testkit % Test)
  .settings(CommonSettings.onSpark, libraryDependencies += Dependencies.kafkaClients)

lazy val dynamicKafka = module("dynamicKafka", "dynamic-kafka")
  .dependsOn(kafka % "compile->compile;test->test", testkit % Test)
  .settings(CommonSettings.onSpark, libraryDependencies ++= Seq(Dependencies.kafkaClients, Dependencies.yaml))

lazy val spark = module("spark")
  .dependsOn(
    coordinator,
    testkit      % Test,
    hybrid       % Test,
    files        % Test,
    tables       % Test,
    dynamicKafka % Test,
    streams      % "test->test"
  )
  .settings(CommonSettings.onSpark)

lazy val testkit = module("testkit")
  .dependsOn(source, coordinator)
  .settings(CommonSettings.onSpark, libraryDependencies ++= Seq(Dependencies.scalatest, Dependencies.kafkaClients))
  .settings(KillingJar.packed, Publishing.module)

lazy val bench = module("bench")
  .dependsOn(source, coordinator, hybrid, files, tables, kafka, dynamicKafka, spark, testkit)
  .enablePlugins(JmhPlugin)
  .settings(
    FlinkPeer.known,
    ComparedBuilds.known,
    libraryDependencies ++= Dependencies.benchPeers ++ Dependencies.delta
  )

lazy val flinkPeer = Project("flinkPeer", file("jvm/bench/flink"))
  .settings(CommonSettings.module, Publishing.never, FlinkPeer.staged)

lazy val bundle = module("bundle")
  .dependsOn(source, coordinator, hybrid, files, tables, streams, kafka, dynamicKafka, spark)
  .enablePlugins(ScalaUnidocPlugin)
  .settings(
    Publishing.bundle,
    ModuleGraph.known,
    Scaladoc.of(source, hybrid, files, tables, streams, kafka, dynamicKafka, spark, testkit),
    libraryDependencies ++= Dependencies.sparkInTests
  )

lazy val servers = Project("servers", file("tests/servers"))
  // Its Java files are programs that tests start with another class path.
  .settings(CommonSettings.module, Publishing.never, KafkaServer.staged, Compile / unmanagedSources := Nil)

// Not in the root: only the soak with old brokers needs it.
lazy val oldServers = Project("oldServers", file("tests/servers/old"))
  .settings(CommonSettings.module, Publishing.never, KafkaServer.oldStaged)

// Not in the root: only tests of checkpoints on real stores need it.
lazy val stores = Project("stores", file("tests/stores"))
  .settings(CommonSettings.module, Publishing.never, Stores.staged, Compile / unmanagedSources := Nil)

// Not in the root: only tests of tables need it.
lazy val tableFormats = Project("tableFormats", file("tests/tables"))
  .settings(CommonSettings.module, Publishing.never, TableFormats.staged, Compile / unmanagedSources := Nil)

lazy val linkage = Project("linkage", file("tests/linkage"))
  .settings(CommonSettings.module, CommonSettings.tested, Publishing.never, libraryDependencies += Dependencies.asm)

lazy val root = project
  .in(file("."))
  .aggregate(
    source,
    coordinator,
    hybrid,
    files,
    tables,
    streams,
    kafka,
    dynamicKafka,
    spark,
    testkit,
    bench,
    flinkPeer,
    bundle,
    servers,
    linkage
  )
  .settings(name := "splice", CommonSettings.module, Publishing.never)

def module(id: String): Project = module(id, id)

def module(id: String, folder: String): Project =
  Project(id, file(s"jvm/$folder"))
    .settings(
      name := s"splice-$folder",
      CommonSettings.module,
      CommonSettings.tested,
      KafkaServer.known,
      Publishing.never
    )
