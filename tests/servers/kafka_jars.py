# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Gets the jars of a Kafka server, once."""

from __future__ import annotations

import os
from pathlib import Path

from servers import maven

_POM = Path(__file__).with_name("kafka-server.pom.xml")
_STAGED_BY_SBT = Path(__file__).with_name("target") / "kafka"

ENVIRONMENT = "SPLICE_KAFKA_SERVER"
"""Names a folder with the jars, to use those."""


def class_path() -> str:
    """Gives the class path of a Kafka server of the version that the build names.

    It is taken from the folder that SPLICE_KAFKA_SERVER names, else from where the build has
    staged it, else resolved with mvn, else staged with sbt.

    Raises:
        RuntimeError: if neither mvn nor sbt is there, or they fail.
    """
    named = os.environ.get(ENVIRONMENT)
    folder = Path(named) if named else _STAGED_BY_SBT
    if any(folder.glob("kafka_2.13-*.jar")):
        return str(folder / "*")
    if named:
        raise RuntimeError(f"{ENVIRONMENT} is '{named}', where no Kafka server is")
    if maven.is_here():
        return maven.class_path(_POM, ["kafkaServer", "kafkaServerLog4j"])
    maven.run([str(maven.ROOT / "project" / "sbt"), "servers/stage"])
    return str(_STAGED_BY_SBT / "*")
