# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands that run in the session of the tests, and a cluster with permissions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from pyspark.sql import SparkSession

from servers.logins.guarded_kafka import GuardedKafka
from splice.cli.main import main


@dataclass(frozen=True)
class Done:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    def lines(self, part: str) -> list[str]:
        """Return the lines of the output with a text."""
        return [line for line in self.out.splitlines() if part in line]


Splice = Callable[..., Done]


@pytest.fixture
def splice(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> Splice:
    """Return a function that runs a command in the session of the tests."""

    def run(*arguments: object) -> Done:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def guarded() -> Iterator[GuardedKafka]:
    """A cluster in which the user ``reader`` may read ``open``, and describe ``closed``."""
    with GuardedKafka() as cluster:
        for topic in ("open", "closed", "hidden"):
            cluster.topics.create(topic)
        cluster.allow("open", "READ")
        cluster.allow("closed", "DESCRIBE")
        yield cluster
