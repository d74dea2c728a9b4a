# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The jars of a Kafka server."""

from __future__ import annotations

import os
from pathlib import Path

from servers.jars import staged

_STAGED = Path(__file__).with_name("target") / "kafka"

ENVIRONMENT = "SPLICE_KAFKA_SERVER"
"""Names a folder with the jars, to use those."""


def class_path() -> str:
    """Return the class path of a Kafka server of the version that the build names.

    Raises:
        RuntimeError: if SPLICE_KAFKA_SERVER names a folder without a server, or sbt fails.
    """
    named = os.environ.get(ENVIRONMENT)
    if not named:
        staged(_STAGED, "servers/stage")
    elif not any(Path(named).glob("kafka_2.13-*.jar")):
        raise RuntimeError(f"{ENVIRONMENT} is '{named}', a folder without a Kafka server")
    return str(Path(named or _STAGED) / "*")
