# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Gets the jars of Spark's own Kafka source and sink, once."""

from __future__ import annotations

import os
from pathlib import Path

from servers import maven

_POM = Path(__file__).with_name("spark-kafka.pom.xml")
_STAGED_BY_SBT = Path(__file__).with_name("target") / "spark-kafka"
_NAMES = (
    "commons-pool2-",
    "spark-sql-kafka-0-10_2.13-",
    "spark-token-provider-kafka-0-10_2.13-",
)


def jars() -> list[str]:
    """Gives the paths of the jars; Splice brings the Kafka client that they need.

    The build has staged them, or mvn resolves them, or sbt stages them.
    """
    if maven.is_here() and not _staged():
        found = maven.class_path(_POM, ["spark", "sparkKafkaTokenProvider"])
        return [jar for jar in found.split(os.pathsep) if Path(jar).name.startswith(_NAMES)]
    if not _staged():
        maven.run([str(maven.ROOT / "project" / "sbt"), "servers/stage"])
    return _staged()


def _staged() -> list[str]:
    return [str(jar) for jar in sorted(_STAGED_BY_SBT.glob("*.jar"))]
