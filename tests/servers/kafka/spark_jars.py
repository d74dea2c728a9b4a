# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Jars of Spark's Kafka source and sink."""

from __future__ import annotations

from servers.jars import ROOT, staged

_STAGED = ROOT / "tests" / "servers" / "target" / "spark-kafka"


def jars() -> list[str]:
    """Return the paths of the jars, without the Kafka client, which Splice provides."""
    return [str(jar) for jar in staged(_STAGED, "servers/stage")]
