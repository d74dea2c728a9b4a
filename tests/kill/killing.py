# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Says at which step a driver dies, and gives it the file system and the column that do it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SCHEME = "kill"
"""Of the file system; ``kill:///path`` is the local ``/path``."""

OPTIONS = {"checkpointStore": "unsafe"}
"""Of a source whose checkpoint is on that file system, where a rename may replace a file."""

_JAR = Path(__file__).resolve().parents[2] / "jvm" / "testkit" / "target" / "splice-killing.jar"
_PACKAGE = "splice.testkit.kill"


@dataclass(frozen=True)
class Kill:
    """The step at which a process dies.

    Attributes:
        what: ``rename`` of a file to a name, ``create`` of one, or a ``row``.
        name: A regular expression that the file's path contains; of a row, ``<leg>/<order id>``.
        when: ``before`` or ``after`` it.
        nth: Which time in that process, from 1.
        action: ``halt`` or ``signal`` (SIGKILL); ``fail``, ``hang`` and ``lose``, which halts the
            executor, hit a task's first attempt.
    """

    what: str
    name: str
    when: str = "before"
    nth: int = 1
    action: str = "halt"

    def __str__(self) -> str:
        """Writes it as the file system reads it."""
        return f"{self.action} {self.when} {self.what} {self.nth} {self.name}"

    @staticmethod
    def offsets(batch: int, when: str = "before", action: str = "halt") -> Kill:
        """At the batch's entry in the offset log."""
        return Kill("rename", f"/offsets/{batch}$", when, action=action)

    @staticmethod
    def commits(batch: int, when: str = "before", action: str = "halt") -> Kill:
        """At the batch's entry in the commit log."""
        return Kill("rename", f"/commits/{batch}$", when, action=action)

    @staticmethod
    def sink(batch: int, when: str = "before", action: str = "halt") -> Kill:
        """At the batch's entry in the log of the file sink, which is the sink's commit."""
        return Kill("rename", f"/_spark_metadata/{batch}(.compact)?$", when, action=action)

    @staticmethod
    def entry(key: str, when: str = "before", action: str = "halt") -> Kill:
        """At an entry of the side log."""
        return Kill("rename", f"/sources/0/splice/{key}$", when, action=action)


def jar() -> Path:
    """Finds the jar with the file system and the column.

    Raises:
        FileNotFoundError: if the build has not made it.
    """
    if not _JAR.is_file():
        raise FileNotFoundError(f"{_JAR} is not there: run 'make jar'")
    return _JAR


def conf() -> dict[str, str]:
    """Gives the settings that make the file system known to a driver."""
    return {
        f"spark.hadoop.fs.{SCHEME}.impl": f"{_PACKAGE}.KillingFileSystem",
        f"spark.hadoop.fs.AbstractFileSystem.{SCHEME}.impl": f"{_PACKAGE}.KillingFileContext",
    }


COLUMN = f"{_PACKAGE}.KillingColumn"
"""The Java function that passes each row by."""
