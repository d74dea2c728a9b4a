# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Logins to Kafka, and the absence of secrets in all output."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from kill import killing
from kill.cluster import two_hosts
from orders import orders
from programs.launch import run
from servers.logins.secured_kafka import SecuredKafka
from servers.network.documents import document_server

HANDLER = "splice.testkit.internal.login.TokenOfSecret"
SECRETS = "org.apache.kafka.common.config.provider.FileConfigProvider"
HEADER = "X-Of-Team"
ROWS = 30
AGE = 54321
REDACTED = "(?i)secret|password|token|access[.]?key|keystore[.]key|metadata[.](header|url)"
"""Regular expression of the documentation, which hides secrets that Spark shows by default."""

LOGGING = """rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss.SSS} %p %c %m%n%ex
logger.splice.name = splice
logger.splice.level = DEBUG
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = INFO
"""


@dataclass(frozen=True)
class Reading:
    """Output of a run for each source, and all of its files."""

    output: str
    folder: Path
    secrets: Mapping[str, str]

    def of(self, source: str) -> str:
        """Return the line with the result of a source, and the text of its error."""
        return self.output[self.output.index(f"\n{source}: ") :]

    def executors(self) -> str:
        """Return the logs of the executors."""
        return "".join(path.read_text() for path in self.folder.glob("work/app-*/*/std*"))

    def leaks(self) -> list[str]:
        """Return the leaked secrets with their files."""
        files = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        return [
            f"{name} in {path}"
            for path, content in files.items()
            for name, secret in self.secrets.items()
            if secret.encode() in content
        ]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    """A secured Kafka cluster with orders."""
    with SecuredKafka(tmp_path_factory.mktemp("certificates")) as kafka:
        kafka.topics.create("orders", 2)
        kafka.topics.produce("orders", orders(range(ROWS), 2))
        yield kafka


def line_of(key: str) -> str:
    """Return a line of a key, which identifies the key."""
    return key.splitlines()[1]


def sources(
    kafka: SecuredKafka, secrets_file: Path, key: str, wrong: str, bearer: str
) -> dict[str, dict[str, str]]:
    """Return sources with different logins. The logins of sources named ``wrong_…`` fail."""
    password, store = kafka.password, kafka.certificates.password
    references = {
        "kafka.config.providers": "file",
        "kafka.config.providers.file.class": SECRETS,
    }
    password_reference = f"${{file:{secrets_file}:password}}"
    store_reference = f"${{file:{secrets_file}:store}}"
    key_reference = f"${{file:{secrets_file}:key}}"
    over_tls = kafka.trust(store_reference) | references
    over_tls["kafka.metadata.max.age.ms"] = f"${{file:{secrets_file}:age}}"
    named = {
        "plain": kafka.login("PLAIN", password),
        "scram": kafka.login("SCRAM-SHA-512", password),
        "handler": kafka.bearer(HANDLER, bearer),
        "certificate": kafka.certificate(store),
        "text": kafka.certificate_as_text(key),
        "referred_text": kafka.certificate_as_text(key_reference) | references,
        "referred": kafka.login("SCRAM-SHA-512", password_reference, "LOGINTLS") | over_tls,
        "wrong_plain": kafka.login("PLAIN", wrong),
        "wrong_scram": kafka.login("SCRAM-SHA-512", wrong),
        "wrong_line": kafka.login("PLAIN", f'{wrong}" {wrong}'),
        "wrong_store": kafka.certificate(wrong),
        "wrong_text": kafka.certificate_as_text(wrong),
        "wrong_key": kafka.certificate_as_text(key.replace(line_of(key), line_of(key)[::-1])),
        "wrong_reference": kafka.login("PLAIN", f"${{file:{secrets_file}:nobody}}") | references,
    }
    common = {"source": "kafka", "subscribe": "orders", "startingOffsets": "earliest"}
    built = {name: common | options for name, options in named.items()}
    built["single_cluster"] = kafka.login("PLAIN", password) | {
        "source": "dynamicKafka",
        "streams": "orders",
        "startingOffsets": "earliest",
    }
    return built


def document(servers: str, **entry: object) -> dict[str, object]:
    """Return metadata with one cluster."""
    return {
        "version": 1,
        "clusters": {"main": {"bootstrapServers": servers, **entry}},
        "streams": {"orders": {"main": ["orders"]}},
    }


def login(kafka: SecuredKafka, secrets_file: Path, password: str) -> tuple[str, dict[str, str]]:
    """Return the servers, and client properties with a password or a reference to it."""
    store = f"${{file:{secrets_file}:store}}"
    options = kafka.login("SCRAM-SHA-512", password, "LOGINTLS") | kafka.trust(store)
    properties = {key.removeprefix("kafka."): value for key, value in options.items()}
    return properties.pop("bootstrap.servers"), properties


def over_http(server: str, path: str, header: str, folder: Path) -> dict[str, str]:
    """Return a source with a document of a server. Its references may be to files of a folder."""
    return {
        "source": "dynamicKafka",
        "metadata": "http",
        "metadata.url": f"{server}/{path}?key={header}",
        f"metadata.header.{HEADER}": header,
        "streams": "orders",
        "startingOffsets": "earliest",
        "kafka.config.providers": "file",
        "kafka.config.providers.file.class": SECRETS,
        "kafka.config.providers.file.param.allowed.paths": str(folder),
    }


@pytest.fixture(scope="module")
def reading(secured: SecuredKafka, tmp_path_factory: pytest.TempPathFactory) -> Reading:
    """Read all sources with a driver and an executor in separate processes."""
    private, folder = tmp_path_factory.mktemp("private"), tmp_path_factory.mktemp("told")
    wrong, bearer, header = "wrong5b2c7d-horse", "bearer9e1f-staple", "header4c7a-clip"
    literal = "literal8d3b-pin"
    key = secured.certificates.private_key()
    known = {
        "password": secured.password,
        "store": secured.certificates.password,
        "wrong": wrong,
        "bearer": bearer,
        "header": header,
        "literal": literal,
        "key": line_of(key),
        "wrong key": line_of(key)[::-1],
    }
    secrets_file = private / "kafka.properties"
    in_file = {"password": secured.password, "store": known["store"], "age": AGE, "key": key}
    lines = (f"{name}={str(value).strip()}".replace("\n", "\\n") for name, value in in_file.items())
    secrets_file.write_text("\n".join(lines))
    logging = private / "log4j2.properties"
    logging.write_text(LOGGING)
    (folder / "events").mkdir()
    servers, referred = login(secured, secrets_file, f"${{file:{secrets_file}:password}}")
    documents = {
        "/named": document(servers, credentials="reader"),
        "/references": document(servers, properties=referred),
        "/literals": document(servers, properties=login(secured, secrets_file, literal)[1]),
    }
    trusted = {"metadataProperties": "any"}

    def credentials(properties: Mapping[str, str]) -> dict[str, str]:
        return {f"credentials.reader.kafka.{name}": value for name, value in properties.items()}

    literals = credentials(login(secured, secrets_file, secured.password)[1])
    with (
        document_server(documents, HEADER, header) as server,
        two_hosts(folder / "work") as master,
    ):
        plan = {
            "master": master,
            "folder": str(folder),
            "sources": sources(secured, secrets_file, key, wrong, bearer)
            | {
                "named": over_http(server, "named", header, private) | literals,
                "named_references": over_http(server, "named", header, private)
                | credentials(referred),
                "document": over_http(server, "references", header, private) | trusted,
                "wrong_named": over_http(server, "named", header, private)
                | credentials(login(secured, secrets_file, wrong)[1]),
                "wrong_document": over_http(server, "literals", header, private) | trusted,
                "wrong_header": over_http(server, "named", wrong, private) | literals,
            },
            "conf": settings(folder, logging),
        }
        (private / "plan.json").write_text(json.dumps(plan))
        local = {"SPARK_LOCAL_IP": "127.0.0.1"}
        output = run([sys.executable], "tell_all", str(private / "plan.json"), env=local)
    (folder / "output.txt").write_text(output)
    return Reading(output, folder, known)


def settings(folder: Path, logging: Path) -> dict[str, str]:
    """Return the session's settings, which enable all output of Spark."""
    java = f"-Dlog4j2.configurationFile={logging.as_uri()} -Dderby.system.home={folder}/derby"
    return {
        "spark.jars": str(killing.jar()),
        "spark.driver.extraJavaOptions": java,
        "spark.executor.extraJavaOptions": java,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.ui.port": "0",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.redaction.regex": REDACTED,
        "spark.task.maxFailures": "1",
        "spark.sql.session.timeZone": "UTC",
    }


READ = [
    *("plain", "scram", "handler", "certificate", "text", "referred", "referred_text"),
    *("single_cluster", "named", "named_references", "document"),
]


@pytest.mark.parametrize("source", READ)
def test_a_source_that_logs_in_is_read(reading: Reading, source: str) -> None:
    assert f"\n{source}: {ROWS} rows" in reading.output, reading.of(source)[:4000]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("wrong_plain", "SPLICE_KAFKA_ACCESS.AUTHENTICATION_FAILED"),
        ("wrong_scram", "SPLICE_KAFKA_ACCESS.AUTHENTICATION_FAILED"),
        ("wrong_line", "SPLICE_KAFKA.BROKER_ERROR"),
        ("wrong_store", "SPLICE_KAFKA.BROKER_ERROR"),
        ("wrong_text", "SPLICE_KAFKA.BROKER_ERROR"),
        ("wrong_key", "SPLICE_KAFKA.BROKER_ERROR"),
        ("wrong_reference", "SPLICE_KAFKA"),
        ("wrong_document", "SPLICE_METADATA.INVALID_DOCUMENT"),
        ("wrong_header", "SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE"),
        ("wrong_named", "SPLICE_KAFKA_ACCESS.AUTHENTICATION_FAILED"),
    ],
)
def test_a_source_with_a_wrong_secret_fails(reading: Reading, source: str, says: str) -> None:
    assert f"\n{source}: failed" in reading.output
    assert says in reading.of(source)[:3000]


def test_failed_sources_leave_no_client(reading: Reading) -> None:
    assert "\nclients left: []" in reading.output


def test_there_is_much_to_search(reading: Reading) -> None:
    assert "plain" in reading.output
    searched = [str(path.relative_to(reading.folder)) for path in reading.folder.rglob("*")]
    for part in ("events/", "pages/", "checkpoint/offsets/0", "work/", "stderr", "output.txt"):
        assert any(part in name for name in searched), f"no {part} in {searched[:200]}"
    executors = reading.executors()
    assert "SASL_SSL" in executors
    for process in (reading.output, executors):
        assert re.search("INFO .*ConsumerConfig values", process)


def test_no_output_has_a_secret(reading: Reading) -> None:
    assert reading.leaks() == []


def test_a_reference_is_resolved_for_each_client(reading: Reading) -> None:
    assert "kafka.metadata.max.age.ms=${file:" in reading.output
    assert f"metadata.max.age.ms = {AGE}" in reading.executors()


def test_a_search_finds_leaks(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.log").write_bytes(os.urandom(64) + b"x battery-horse y" + os.urandom(64))
    leaks = Reading("", tmp_path, {"password": "battery-horse"}).leaks()
    assert leaks == [f"password in {tmp_path / 'a' / 'b.log'}"]
