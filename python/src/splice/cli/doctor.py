# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Command ``splice doctor``."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from splice._internal import jvm
from splice._internal.reading import source_errors
from splice.cli import OK, PROBLEM, environment, reachability
from splice.cli.findings import Finding, State, failed, ok, warning
from splice.cli.options import add_kafka, pairs, properties, require_servers
from splice.cli.session import add_conf, local_session
from splice.errors import SourceError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of the command."""
    command = commands.add_parser(
        "doctor",
        help="check Java, Spark, the jars, a Kafka cluster and a checkpoint folder",
        description=(
            "Check Python, Java, Spark, the jars and the class path. With --servers, also check a "
            "Kafka cluster: each bootstrap server, the login, each advertised address, and the "
            "permissions on a topic. With --checkpoint, also create a probe file with the atomic "
            "creation that a query uses, and list and delete the file. Each line is ok, warning or "
            "failed. The exit code is 1 if a check failed."
        ),
    )
    add_kafka(command)
    command.add_argument("--topic", metavar="TOPIC", help="topic whose permissions are checked")
    command.add_argument(
        "--checkpoint", metavar="PATH", help="folder in which the command writes a probe file"
    )
    add_conf(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings."""
    code = OK
    for finding in _findings(arguments):
        print(finding, flush=True)
        if finding.state is State.FAILED:
            code = PROBLEM
    return code


def _findings(arguments: argparse.Namespace) -> Iterator[Finding]:
    require_servers(arguments, ["--topic", "--kafka", "--kafka-file"])
    pairs(arguments.conf, "--conf")
    client = properties(arguments)
    has_java = True
    for finding in environment.findings():
        has_java &= not (finding.state is State.FAILED and finding.text.startswith("Java"))
        yield finding
    if arguments.servers:
        yield from reachability.bootstrap(arguments.servers)
    if not has_java:
        yield warning("the checks that need a JVM were skipped", "Repair Java first.")
        return
    try:
        with local_session(arguments) as spark:
            yield from _session(spark)
            if arguments.servers:
                yield from _cluster(arguments.servers, client, arguments.topic)
            if arguments.checkpoint:
                yield from _checkpoint(spark, arguments.checkpoint)
    except PySparkException as error:
        yield failed(f"Spark session: {error}", "Correct the settings that the error names.")
    except OSError as error:
        step = "Correct the settings that the error names. Check that Java and PySpark can start."
        yield failed(f"Spark session: {error}", step)


def _cluster(servers: str, client: Mapping[str, str], topic: str | None) -> Iterator[Finding]:
    """Check a cluster. Invalid properties are a finding, so the next check runs."""
    from py4j.protocol import Py4JJavaError

    step = "Correct --servers, --kafka or --kafka-file."
    try:
        with source_errors():
            yield from reachability.cluster(servers, client, topic)
    except PySparkException as error:
        yield failed(f"client properties: {error}", step)
    except Py4JJavaError as error:
        yield failed(f"client properties: {error.java_exception}", step)


def _session(spark: SparkSession) -> Iterator[Finding]:
    driver: Any = jvm.running()
    scala = driver.scala.util.Properties.versionNumberString()
    java = driver.java.lang.System.getProperty("java.version")
    text = f"Spark {spark.version} with Scala {scala} runs on Java {java}"
    yield ok(text) if scala.startswith("2.13") else failed(text, "Use Spark for Scala 2.13.")
    if jvm.entry_point(driver) is None:
        yield failed(
            "the class path of the driver has no Splice jar", "Use configure(builder), or --jars."
        )
        return
    versions = driver.splice.spark.internal.table.ClassPathVersions
    loader = driver.java.lang.Thread.currentThread().getContextClassLoader()
    conflicts = versions.warnings(loader).mkString("\n")
    for conflict in filter(None, conflicts.split("\n")):
        yield failed(conflict, "Remove the other version.")
    if not conflicts:
        client = driver.org.apache.kafka.common.utils.AppInfoParser.getVersion()
        yield ok(f"the class path has one Splice jar and one Kafka client, version {client}")


def _checkpoint(spark: SparkSession, path: str) -> Iterator[Finding]:
    """Create a file atomically, list and delete the file, and delete the folders of the probe."""
    from py4j.protocol import Py4JJavaError

    driver: Any = jvm.running()
    hadoop = driver.org.apache.hadoop.fs
    try:
        folder = parent = hadoop.Path(path)
        files = folder.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        created = []
        while not files.exists(parent):
            created.append(parent)
            parent = parent.getParent()
        probe = hadoop.Path(folder, f".splice-probe-{uuid.uuid4().hex}")
        try:
            with source_errors():
                jvm.create_file(spark, probe.toString())
            listed = [status.getPath().getName() for status in files.listStatus(folder)]
        finally:
            files.delete(probe, False)
            # Another program may have written to a new folder, so only an empty folder is deleted.
            for new in created:
                if files.exists(new) and not files.listStatus(new):
                    files.delete(new, False)
        if probe.getName() not in listed:
            yield failed(
                f"checkpoint {path}: a new file is not listed",
                "Use a file system whose listings contain new files.",
            )
        else:
            yield ok(f"checkpoint {path}: a file can be created atomically, listed and deleted")
    except SourceError as error:
        yield failed(
            f"checkpoint {path}: {' '.join(str(error).split())}",
            "Use one of the storages that the error names, or set the option 'checkpointStore'.",
        )
    except Py4JJavaError as error:
        yield failed(
            f"checkpoint {path}: {error.java_exception}",
            "Check the path, the permissions, and the jars of the file system.",
        )
