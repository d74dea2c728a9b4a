# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Jars of a Kafka server."""

from __future__ import annotations

import os
from pathlib import Path

from servers.jars import ROOT, staged

_STAGED = ROOT / "tests" / "servers" / "target" / "kafka"
_OLD = ROOT / "tests" / "servers" / "old" / "target" / "kafka"

ENVIRONMENT = "SPLICE_KAFKA_SERVER"
"""Environment variable with the folder of the jars."""


def class_path() -> str:
    """Return the class path of a Kafka server of the build's version.

    Raises:
        RuntimeError: if the folder of SPLICE_KAFKA_SERVER has no server, or sbt fails.
    """
    named = os.environ.get(ENVIRONMENT)
    if not named:
        staged(_STAGED, "servers/stage")
    elif not any(Path(named).glob("kafka_2.13-*.jar")):
        raise RuntimeError(f"{ENVIRONMENT} is '{named}', a folder without a Kafka server")
    return str(Path(named or _STAGED) / "*")


def old_class_path() -> str:
    """Return the class path of a server of Kafka 2.6 with ZooKeeper.

    Raises:
        RuntimeError: if sbt fails.
    """
    staged(_OLD, "oldServers/stage")
    return str(_OLD / "*")
