# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One run of queries, from its start to its end or kill."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from kill import classes, killing
from kill.backend import rule
from kill.backend.session import SessionRun
from kill.killing import Kill
from servers.process import ServerProcess
from tables import formats

_TESTS = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Life:
    """One run of queries, and the records of its file system."""

    folder: Path
    process: ServerProcess | SessionRun

    @staticmethod
    def begin(
        folder: Path,
        queries: Sequence[Mapping[str, Any]],
        kills: Sequence[Kill] = (),
        master: str = rule.MASTER,
        conf: Mapping[str, str] | None = None,
        session: SparkSession | None = None,
        slain: bool = False,
    ) -> Life:
        """Start queries in a driver process, or in the session of the tests.

        Args:
            folder: Folder of the run, which must not exist. Its parent has the files of the
                queries.
            queries: Queries as for ``kill.driver``.
            kills: Steps. The first step that the run reaches kills the run.
            master: Master of the driver.
            conf: Settings of the driver.
            session: Session of the tests; None for a driver process.
            slain: True if the test kills the driver at any time.
        """
        (folder / "tmp").mkdir(parents=True)
        conf, wanted = conf or {}, os.environ.get(rule.VARIABLE, "")
        if session and not rule.reasons(queries, kills, master, conf, slain, wanted):
            run = SessionRun(session, folder, queries, kills, {**_OF_QUERIES, **conf})
            return Life(folder, run)
        given = folder / "queries.json"
        plan = {
            "SPLICE_KILL_AT": "\n".join(str(kill.of_process) for kill in kills),
            "SPLICE_KILL_TRACE": str(folder / "trace"),
            "SPLICE_KILL_ROWS": str(folder / "rows"),
        }
        settings = {
            **_CONF,
            **_places(folder),
            **killing.conf(),
            **classes.conf(),
            **formats.extensions(),
            **conf,
        }
        if classes.DRIVER not in settings:
            settings |= classes.archived()
        settings |= {f"spark.executorEnv.{name}": value for name, value in plan.items()}
        given.write_text(json.dumps({"master": master, "conf": settings, "queries": queries}))
        environment = plan | {
            "PYTHONPATH": os.pathsep.join([str(_TESTS), *sys.path]),
            "TMPDIR": str(folder / "tmp"),
        }
        command = [sys.executable, "-m", "kill.driver", str(given)]
        return Life(folder, ServerProcess(command, folder / "driver.log", environment))

    def __enter__(self) -> Life:
        """Return the run."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the run, unless it has ended."""
        self.process.kill()

    @property
    def acted(self) -> str | None:
        """Return the first step with a kill or a fault; None without such a step."""
        return next((s for s in self._notes("trace") if s.startswith("acts: ")), None)

    @property
    def steps(self) -> Sequence[str]:
        """Return the steps that the run passed."""
        return [line for line in self._notes("trace") if not line.startswith("acts: ")]

    @property
    def rows(self) -> Sequence[str]:
        """Return the rows of its tasks, ``<leg>/<order id>``, including failed attempts."""
        return self._notes("rows")

    def finish(self) -> None:
        """Run the queries until they have read all available rows, and end the run."""
        (self.folder / "stop").touch()
        code = self.process.wait(180)
        assert code == 0, f"the run failed:\n{self.process.tail(80)}"

    def _notes(self, name: str) -> list[str]:
        notes = self.folder / name
        return notes.read_text().splitlines() if notes.exists() else []


_OF_QUERIES = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    # A kill during the write of the first offset leaves a hidden file in offsets/. With this check,
    # Spark would reject the folder at the next start.
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
}
_CONF = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    **_OF_QUERIES,
}


def _places(folder: Path) -> dict[str, str]:
    # A killed JVM leaves its temporary files, so they are in the folder of the run. Most of the
    # time is the start of the JVM, which a simple compiler and collector shorten.
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    java = f"-Djava.io.tmpdir={folder / 'tmp'} -XX:-UsePerfData {quick}"
    return {
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": java,
        "spark.executor.extraJavaOptions": java,
    }
