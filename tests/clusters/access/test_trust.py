# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Attacks by the author of the metadata document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from clusters.atlas import Atlas, rows_in, soon
from driver_log import DriverLog
from refusals import assert_says, failure
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
    "a store that is another file": {"ssl.truststore.location": "/etc/passwd"},
    "a key tab that is another file": {
        "sasl.jaas.config": (
            "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true"
            ' keyTab="/etc/passwd" principal="me@EXAMPLE";'
        )
    },
    "a connection without encryption": {"security.protocol": "PLAINTEXT"},
    "a secret in a property that servers receive": {
        "client.rack": "${file:ALLOWED/secrets.properties:user}"
    },
}


def _attack(atlas: Atlas, properties: Mapping[str, str]) -> dict[str, object]:
    """Return the entry of the cluster west with the properties of an attack."""
    reached = atlas.clusters.reached("west")
    return {**reached, "properties": _resolved(atlas, properties)}


def _resolved(atlas: Atlas, properties: Mapping[str, str]) -> dict[str, str]:
    allowed = atlas.clusters.west.options["kafka.config.providers.file.param.allowed.paths"]
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
    soon(query, "a warning", lambda: driver_log.has(r"line 1: 'clusters\.west\.properties\.sasl"))
    atlas.produce("west", west, 20)
    atlas.produce("north", north, 20)
    soon(query, "rows of both clusters", lambda: rows_in(tmp_path) == atlas.produced)

    more = atlas.topic("north")
    atlas.publish({"orders": {"west": [west], "north": [north, more]}})
    atlas.produce("north", more, 20)
    soon(query, "rows of a later document", lambda: rows_in(tmp_path) == atlas.produced)
    query.stop()
    atlas.assert_read(spark, tmp_path)
