# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Gets the jars of Spark's own Kafka source and sink, once."""

from __future__ import annotations

import os
from pathlib import Path

from servers import maven

_POM = Path(__file__).with_name("spark-kafka.pom.xml")
_NAMES = (
    "commons-pool2-",
    "spark-sql-kafka-0-10_2.13-",
    "spark-token-provider-kafka-0-10_2.13-",
)


def jars() -> list[str]:
    """Gives the paths of the jars; Splice brings the Kafka client that they need."""
    if maven.is_here():
        found = maven.class_path(_POM, ["spark", "sparkKafkaTokenProvider"])
    else:
        command = [str(maven.ROOT / "project" / "sbt"), "export bench/externalDependencyClasspath"]
        found = maven.run(command).splitlines()[-1]
    return [jar for jar in found.split(os.pathsep) if Path(jar).name.startswith(_NAMES)]
