# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One session with the catalogs of the formats, and one database, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tables import formats
from tables.postgresql import Postgresql


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session of the JVM of the tests that has the catalogs of the formats."""
    session = spark.newSession()
    for key, value in formats.catalogs(str(tmp_path_factory.mktemp("lake"))).items():
        session.conf.set(key, value)
    return session


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgresql]:
    """A server of PostgreSQL."""
    if Postgresql.programs() is None:
        pytest.skip("PostgreSQL is not installed: no initdb below /usr/lib/postgresql")
    folder: Path = tmp_path_factory.mktemp("postgresql")
    with Postgresql(folder) as server:
        yield server
