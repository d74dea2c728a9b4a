# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Spark session of a command that needs a JVM."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from splice.cli.options import pairs
from splice.configure import configure

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


def add_conf(command: argparse.ArgumentParser) -> None:
    """Add the option ``--conf``, for example with the access keys of an object store."""
    command.add_argument(
        "--conf",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="setting of the local Spark session; may be repeated",
    )


@contextmanager
def local_session(arguments: argparse.Namespace) -> Iterator[SparkSession]:
    """Start a small local session with the settings of ``--conf``, and stop the session.

    If this process has a session already, the command uses that session with its settings.

    Raises:
        OptionError: if an argument of ``--conf`` has no name or no ``=``.
        OSError: if the environment selects a Spark Connect server.
    """
    from pyspark.sql import SparkSession

    given = pairs(arguments.conf, "--conf")
    if os.environ.get("SPARK_REMOTE"):
        raise OSError(
            "SPARK_REMOTE is set. Unset SPARK_REMOTE, because the command needs a local session."
        )
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    builder = SparkSession.builder.master("local[1]").appName("splice")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
    }
    session = configure(builder.config(map={**settings, **given})).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()
