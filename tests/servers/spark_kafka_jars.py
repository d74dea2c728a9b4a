# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Jars of Spark's Kafka source and sink."""

from __future__ import annotations

from pathlib import Path

from servers.jars import staged

_STAGED = Path(__file__).with_name("target") / "spark-kafka"


def jars() -> list[str]:
    """Return the paths of the jars, without the Kafka client, which Splice provides."""
    return [str(jar) for jar in staged(_STAGED, "servers/stage")]
