# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Jars of Spark's Kafka source and sink."""

from __future__ import annotations

import pyspark

from servers.jars import ROOT, staged

_STAGED = ROOT / "tests" / "servers" / "target" / "spark-kafka"

FIT = pyspark.__version__.startswith("4.2.")
"""True if the jars have the version of PySpark. Jars of other versions are not available."""

WHY = "the jars of Spark's Kafka source and sink are of Spark 4.2"
"""Reason to skip tests that need the jars."""


def jars() -> list[str]:
    """Return the paths of the jars, without the Kafka client, which Splice provides."""
    return [str(jar) for jar in staged(_STAGED, "servers/stage")]
