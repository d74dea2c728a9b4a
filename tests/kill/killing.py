# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Steps at which a run is killed, and the file system and the column that kill the run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

SCHEME = "kill"
"""Scheme of the file system. ``kill:///path`` is the local ``/path``."""

OPTIONS = {"checkpointStore": "unsafe"}
"""Options of a source with a checkpoint on that file system, whose rename may replace a file."""

DIE = "die"
"""Action that ends a run, and lets its process live. In a driver process, the action is `halt`."""

FAIL = "fail"
"""Action that fails the first attempt of a task."""

_JAR = Path(__file__).resolve().parents[2] / "jvm" / "testkit" / "target" / "splice-killing.jar"
_PACKAGE = "splice.testkit.internal.kill"


@dataclass(frozen=True)
class Kill:
    """Step at which a run is killed.

    Attributes:
        what: ``rename`` or ``create`` of a file, or a ``row``.
        name: Regular expression for a part of the file's path, or for ``<leg>/<order id>``.
        when: ``before`` or ``after`` the operation.
        nth: Number of the occurrence in the run, from 1.
        action: ``die``, or a kill of a driver process: ``halt`` or ``signal`` (SIGKILL). ``fail``,
            ``hang`` and ``lose``, which halts the executor, affect the first attempt of a task.
    """

    what: str
    name: str
    when: str = "before"
    nth: int = 1
    action: str = DIE

    def __str__(self) -> str:
        """Return the step in the format of the file system."""
        return f"{self.action} {self.when} {self.what} {self.nth} {self.name}"

    @property
    def of_process(self) -> Kill:
        """Return the same step with an action that ends a driver process."""
        return replace(self, action="halt") if self.action == DIE else self

    @staticmethod
    def offsets(batch: int, when: str = "before", action: str = DIE) -> Kill:
        """Return the step of the batch's entry in the offset log."""
        return Kill("rename", f"/offsets/{batch}$", when, action=action)

    @staticmethod
    def commits(batch: int, when: str = "before", action: str = DIE) -> Kill:
        """Return the step of the batch's entry in the commit log."""
        return Kill("rename", f"/commits/{batch}$", when, action=action)

    @staticmethod
    def sink(batch: int, when: str = "before", action: str = DIE) -> Kill:
        """Return the step of the batch's entry in the log of the file sink, the sink's commit."""
        return Kill("rename", f"/_spark_metadata/{batch}(.compact)?$", when, action=action)

    @staticmethod
    def entry(key: str, when: str = "before", action: str = DIE) -> Kill:
        """Return the step of an entry of the side log."""
        return Kill("rename", f"/sources/0/splice/{key}$", when, action=action)


def jar() -> Path:
    """Return the jar with the file system and the column.

    Raises:
        FileNotFoundError: if the jar is not built.
    """
    if not _JAR.is_file():
        raise FileNotFoundError(f"{_JAR} is missing: run 'make jar'")
    return _JAR


def conf() -> dict[str, str]:
    """Return the settings that register the file system in a session."""
    return {
        f"spark.hadoop.fs.{SCHEME}.impl": f"{_PACKAGE}.KillingFileSystem",
        f"spark.hadoop.fs.AbstractFileSystem.{SCHEME}.impl": f"{_PACKAGE}.KillingFileContext",
    }


COLUMN = f"{_PACKAGE}.KillingColumn"
"""Java function that receives each row and returns it unchanged."""
