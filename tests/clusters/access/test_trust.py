# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Attacks by the author of the metadata document."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from clusters.atlas import Atlas, rows_in, soon
from driver_log import DriverLog
from refusals import assert_says, failure
from servers.network.recorder import Recorder
from splice import describe
from streams import start

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required username=me"
_PROVIDERS = "org.apache.kafka.common.config.provider"

_ATTACKS: dict[str, dict[str, str]] = {
    "a file that the query does not allow": {
        "sasl.jaas.config": f'{_PLAIN} password="${{file:/etc/passwd:root}}";'
    },
    "a file through the folder above an allowed one": {
        "sasl.jaas.config": f'{_PLAIN} password="${{file:ALLOWED/../../../etc/passwd:root}}";'
    },
    "a token URL that is a file": {"sasl.oauthbearer.token.endpoint.url": "file:///etc/passwd"},
    "a provider in the document": {
        "config.providers": "env",
        "config.providers.env.class": f"{_PROVIDERS}.EnvVarConfigProvider",
    },
    "a wider limit for the query's provider": {
        "config.providers.file.param.allowed.paths": "/",
    },
    "a class": {"metric.reporters": "example.Reporter"},
    "a login module": {
        "sasl.jaas.config": "com.sun.security.auth.module.JndiLoginModule required;"
    },
    "an option of a login module": {
        "sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
            ' clientId="a" config.providers="env"'
            f' config.providers.env.class="{_PROVIDERS}.EnvVarConfigProvider";'
        )
    },
    "a login module in a reference without a value": {
        "sasl.jaas.config": (
            "/*${file:ALLOWED/secrets.properties:*/"
            f" com.sun.security.auth.module.JndiLoginModule required; // }}*/ {_PLAIN};"
        )
    },
    "a secret in a property that servers receive": {
        "client.rack": "${file:ALLOWED/secrets.properties:user}"
    },
}

_KERBEROS = "com.sun.security.auth.module.Krb5LoginModule required"
# Kafka opens a key store of these types only with a password.
_PASSWORD = {"ssl.keystore.password": "${file:ALLOWED/secrets.properties:user}"}

_STORES: dict[str, dict[str, str]] = {
    **{
        f"{store}-{kind}": {
            "security.protocol": "SSL",
            f"ssl.{store}.location": "STOLEN",
            f"ssl.{store}.type": kind,
            **(_PASSWORD if store == "keystore" and kind != "PEM" else {}),
        }
        for store in ("truststore", "keystore")
        for kind in ("JKS", "PKCS12", "PEM")
    },
    "key_tab": {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.jaas.config": (
            f'{_KERBEROS} useKeyTab=true keyTab="STOLEN" storeKey=true debug=true'
            ' principal="me@EXAMPLE" serviceName=kafka;'
        ),
    },
    "ticket_cache": {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.jaas.config": (
            f'{_KERBEROS} useTicketCache=true ticketCache="STOLEN" doNotPrompt=true debug=true'
            ' principal="me@EXAMPLE" serviceName=kafka;'
        ),
    },
}
"""Properties of clusters whose clients open the file STOLEN."""


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """A server that records the requests of clients."""
    with Recorder() as started:
        yield started


@pytest.fixture
def console(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """The output of the driver's JVM during the test, without the log."""
    jvm: Any = spark._jvm
    system, file = jvm.java.lang.System, tmp_path / "console"
    output, errors = system.out, system.err
    stream = jvm.java.io.PrintStream(str(file))
    system.setOut(stream)
    system.setErr(stream)
    yield file
    system.setOut(output)
    system.setErr(errors)
    stream.close()


class _Stolen:
    """A file that is not a valid store. Its only content is a unique word in PEM entries."""

    def __init__(self, folder: Path) -> None:
        # The word is valid Base64, so that Kafka decodes it.
        self.word = f"hunter22{uuid.uuid4().hex}"
        self.path = folder / "stolen"
        kinds = ("PRIVATE KEY", "CERTIFICATE")
        parts = (f"-----BEGIN {kind}-----\n{self.word}\n-----END {kind}-----\n" for kind in kinds)
        self.path.write_text("".join(parts))

    def assert_opened(self, text: str) -> None:
        """Assert that a text reports an invalid store, key tab or ticket cache."""
        named = f"(Failed to load [^\n]*|not available in ){re.escape(str(self.path))}"
        # The JDK reports an invalid ticket cache without its path.
        assert_says(text, f"{named}|null credentials from Ticket Cache")

    def assert_not_in(self, *texts: str) -> None:
        """Assert that no text contains the word."""
        for text in texts:
            assert self.word not in text, text

    def assert_not_below(self, folder: Path) -> None:
        """Assert that no file of a folder contains the word."""
        for file in folder.rglob("*"):
            assert file.is_dir() or self.word.encode() not in file.read_bytes(), file


def _attack(atlas: Atlas, properties: Mapping[str, str]) -> dict[str, object]:
    """Return the entry of the cluster west with the properties of an attack."""
    reached = atlas.clusters.reached("west")
    return {**reached, "properties": {**reached["properties"], **_resolved(atlas, properties)}}


def _open(atlas: Atlas, recorder: Recorder, stolen: _Stolen, name: str) -> dict[str, object]:
    """Return the entry of a cluster whose clients open the stolen file."""
    located = {
        key: value.replace("STOLEN", str(stolen.path)) for key, value in _STORES[name].items()
    }
    return {"bootstrapServers": recorder.address, "properties": _resolved(atlas, located)}


def _resolved(atlas: Atlas, properties: Mapping[str, str]) -> dict[str, str]:
    allowed = atlas.clusters.west.providers["kafka.config.providers.file.param.allowed.paths"]
    return {key: value.replace("ALLOWED", allowed) for key, value in properties.items()}


@pytest.mark.parametrize("attack", _ATTACKS)
def test_the_first_start_rejects_an_attack(
    spark: SparkSession, atlas: Atlas, tmp_path: Path, attack: str
) -> None:
    topic = atlas.topic("west")
    atlas.publish({"orders": {"west": [topic]}}, {"west": _attack(atlas, _ATTACKS[attack])})
    source = atlas.builder().streams("orders").starting_offsets("earliest").build()
    text = failure(spark, source, tmp_path)
    key = next(iter(_ATTACKS[attack]))
    assert_says(
        text, "SPLICE_METADATA.INVALID_DOCUMENT", "line 1", f"clusters.west.properties.{key}"
    )


def test_a_running_query_reads_on_without_an_attack(
    spark: SparkSession, atlas: Atlas, driver_log: DriverLog, tmp_path: Path
) -> None:
    west, north = atlas.topic("west"), atlas.topic("north")
    streams = {"orders": {"west": [west], "north": [north]}}
    good = {name: atlas.clusters.reached(name) for name in ("west", "north")}
    atlas.publish(streams)
    atlas.produce("west", west, 20)
    query = start(atlas.stream(spark), tmp_path)
    soon(query, "the first rows", lambda: rows_in(tmp_path) == atlas.produced)

    bad = _attack(atlas, _ATTACKS["a file that the query does not allow"])
    atlas.publish(streams, {**good, "west": bad})
    soon(query, "a warning", lambda: driver_log.has(r"line 1: 'clusters\.west.*/etc/passwd"))
    atlas.produce("west", west, 20)
    atlas.produce("north", north, 20)
    soon(query, "rows of both clusters", lambda: rows_in(tmp_path) == atlas.produced)

    more = atlas.topic("north")
    atlas.publish({"orders": {"west": [west], "north": [north, more]}})
    atlas.produce("north", more, 20)
    soon(query, "rows of a later document", lambda: rows_in(tmp_path) == atlas.produced)
    query.stop()
    atlas.assert_read(spark, tmp_path)


@pytest.mark.parametrize("name", _STORES)
def test_an_invalid_store_file_is_not_shown(
    spark: SparkSession,
    atlas: Atlas,
    recorder: Recorder,
    driver_log: DriverLog,
    console: Path,
    tmp_path: Path,
    name: str,
) -> None:
    stolen = _Stolen(tmp_path)
    entry = _open(atlas, recorder, stolen, name)
    atlas.publish({"orders": {name: ["orders"]}}, {name: entry})
    source = atlas.builder(clusterTimeout="60s").streams("orders").build()
    text = failure(spark, source, tmp_path / "query") + console.read_text()
    stolen.assert_opened(text)
    stolen.assert_not_in(text)
    assert not driver_log.has(stolen.word)
    stolen.assert_not_below(tmp_path / "query")
    assert not recorder.received()
    assert json.loads(atlas.file.read_text())["clusters"][name] == entry


def test_a_running_query_does_not_show_invalid_store_files(
    spark: SparkSession,
    atlas: Atlas,
    recorder: Recorder,
    driver_log: DriverLog,
    tmp_path: Path,
) -> None:
    stolen = _Stolen(tmp_path)
    north = atlas.topic("north")
    atlas.publish({"orders": {"north": [north]}})
    atlas.produce("north", north, 20)
    folder = tmp_path / "query"
    query = start(atlas.stream(spark), folder)
    soon(query, "the first rows", lambda: rows_in(folder) == atlas.produced)

    # The cluster without a store shows that the recorder receives requests.
    entries = {
        "north": atlas.clusters.reached("north"),
        "no-store": {"bootstrapServers": recorder.address},
        **{name: _open(atlas, recorder, stolen, name) for name in _STORES},
    }
    atlas.publish({"orders": {name: [north] for name in entries}}, entries)
    warned = [f"not include cluster {name} until" for name in _STORES]
    soon(query, "warnings of all stores", lambda: all(map(driver_log.has, warned)))
    soon(query, "a request", recorder.received)
    atlas.produce("north", north, 20)
    soon(query, "rows of a cluster", lambda: rows_in(folder) == atlas.produced)
    soon(
        query,
        "progress with all clusters",
        lambda: all(name in _progress(query) for name in entries),
    )
    progress = _progress(query)
    query.stop()
    stolen.assert_not_in(progress, str(describe(query)))
    assert not driver_log.has(stolen.word)
    stolen.assert_not_below(folder)
    assert stolen.word.encode() not in b"".join(recorder.received())


def _progress(query: StreamingQuery) -> str:
    return json.dumps(query.recentProgress, default=str)
