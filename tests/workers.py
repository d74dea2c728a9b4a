# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Distribution of the tests over the workers of pytest.

A worker has a separate session and broker. Tests that share further servers run successively in one
worker. Other tests run in the next free worker. The longest units run first, so that the workers
finish at about the same time.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling

_TOGETHER = (
    "clusters",
    "faults",
    "sources/test_security.py",
    "fixtures",
    "sources/test_dynamic_kafka.py",
    "pages/runbooks",
    "stores",
    "tables",
    "cli",
    "errors/test_conditions.py",
    "deployment/test_connect.py",
    "pages/how_to/test_checkpoints_by_command.py",
)
"""Folders and files with tests that share servers or topics."""

_THEN = "kill"
"""Folder with tests that start several drivers each."""


class Scheduler(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Schedule with one unit per shared set of servers, or per test."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        """Create a schedule that keeps the order of the tests, the order of ``in_order``."""
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


def unit(nodeid: str) -> str:
    """Return the name of the unit of a test."""
    return next((each for each in _TOGETHER if _is_in(nodeid, each)), nodeid)


def in_order(nodeid: str) -> int:
    """Return the rank of a test: units of several tests come first."""
    shared = unit(nodeid)
    if shared in _TOGETHER:
        return _TOGETHER.index(shared)
    return len(_TOGETHER) + (not _is_in(nodeid, _THEN))


def _is_in(nodeid: str, place: str) -> bool:
    # The root of pytest is tests/, or the folder above it.
    parts = PurePosixPath(nodeid.split("::", 1)[0]).parts
    relative = parts[1:] if parts[0] == "tests" else parts
    wanted = PurePosixPath(place).parts
    return relative[: len(wanted)] == wanted
