# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Run of queries in the session of the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from kill import driver
from kill.killing import Kill
from servers.waiting import wait_for

_CONF = {"spark.sql.streaming.stopTimeout": "120s"}
_DIED = 137


class SessionRun:
    """Run of queries with the methods of a driver process that tests use.

    After its death, the run changes no file, as after SIGKILL. Each run has its own readers, so no
    later run uses a reader of a dead run.
    """

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        queries: Sequence[Mapping[str, Any]],
        kills: Sequence[Kill],
        conf: Mapping[str, str],
    ) -> None:
        """Start the queries in a new session of the same JVM.

        Args:
            spark: Session of the tests.
            folder: Folder of the run. Its parent has the files of the queries.
            queries: Queries as for ``kill.driver``.
            kills: Steps at which the run dies.
            conf: Settings of the queries.
        """
        self.log = folder / "driver.log"
        self.log.touch()
        self._name, self._stop = str(folder), folder / "stop"
        self._given = queries
        self._code: int | None = None
        jvm: Any = spark._jvm
        package = jvm.splice.testkit.internal.kill
        self._switch = package.KillSwitch
        self._switch.begin(self._name, str(folder.parent), "\n".join(map(str, kills)))
        session: Any = spark.newSession()
        for key, value in {**_CONF, **conf}.items():
            session.conf.set(key, value)
        session._jsparkSession.udf().register(
            "killing",
            package.KillingColumn(self._name),
            jvm.org.apache.spark.sql.types.DataTypes.StringType,
        )
        self._queries: list[StreamingQuery] = []
        try:
            for query in queries:
                self._queries.append(driver.start(session, query))
        except Exception as error:
            self._end(str(error))

    @property
    def pid(self) -> int:
        """Reject the use of a process id, because the JVM also runs other tests."""
        raise NotImplementedError("a run in the session has no process")

    @property
    def exit_code(self) -> int | None:
        """Return 137 after a death, 1 after a failure, 0 after an end; None while a query runs."""
        if self._code is None:
            # A query that ends by its death ends after the death.
            is_active = any(query.isActive for query in self._queries)
            if self._switch.hasDied(self._name) or not is_active:
                errors = (query.exception() for query in self._queries)
                self._end("\n".join(str(error) for error in errors if error))
        return self._code

    def wait(self, timeout: float) -> int:
        """Wait until all queries have ended, and return the exit code.

        Raises:
            TimeoutError: if a query still runs after the timeout in seconds.
        """
        if self.exit_code is None and self._stop.exists():
            # The exit code shows the failure of a query.
            with suppress(StreamingQueryException):
                driver.drain(self._queries, self._given)
        wait_for("the end of the queries", lambda: self.exit_code is not None, timeout)
        return self.kill()

    def kill(self) -> int:
        """End the run at any step, unless the run has ended, and return the exit code."""
        if self.exit_code is None:
            self._switch.die(self._name)
        code = self.exit_code
        assert code is not None
        return code

    def tail(self, lines: int = 40) -> str:
        """Return the last lines of the errors of the queries."""
        return "\n".join(self.log.read_text().splitlines()[-lines:])

    def _end(self, errors: str) -> None:
        self.log.write_text(errors)
        for query in self._queries:
            query.stop()
        died = self._switch.hasDied(self._name)
        self._code = _DIED if died else int(bool(errors))
