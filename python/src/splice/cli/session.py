# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Spark session of a command that needs a JVM."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

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
    """
    from pyspark.sql import SparkSession

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
    }
    for setting in arguments.conf:
        name, _, value = setting.partition("=")
        settings[name] = value
    session = configure(builder.config(map=dict(settings))).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()
