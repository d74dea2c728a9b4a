# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Session of the tests: small, in UTC, with all files in one folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from kill import classes, killing
from splice import configure
from tables import formats

RACK = "spark.tests.rack"
"""Setting of the session with the rack ``rack-1``."""


def session(folder: Path, conf: Mapping[str, str] | None = None) -> SparkSession:
    """Start a session with Splice's jars, two cores and two shuffle partitions."""
    # Python workers need the packages of the tests, such as Arrow.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # For many short queries, a fully optimizing compiler costs more time than it saves. The default
    # cache of 48 MB for the code of the simple compiler is full after 500 seconds of tests.
    java = (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -XX:-UsePerfData"
    )
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": (
            f"-Dderby.system.home={folder} -Djava.io.tmpdir={folder} {java}"
        ),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        # A progress bar has no end of line, so the next output would be on the same line.
        "spark.ui.showConsoleProgress": "false",
        RACK: "rack-1",
        **classes.archived(),
        **classes.conf(),
        **killing.conf(),
        **formats.extensions(),
        **(conf or {}),
    }
    builder = SparkSession.builder.master("local[2]").appName("splice-tests")
    return configure(builder.config(map=dict(settings))).getOrCreate()
