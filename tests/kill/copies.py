# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query that copies rows to a topic, with triggers of all kinds.

A Kafka sink has no transaction with the checkpoint, so the next run copies rows after the newest
committed batch again. Other rows must not have a second copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Generic, TypeVar

from kill.killing import Kill
from kill.life import Life
from kill.query import OURS, Query, Row
from kill.relay import Relay
from servers.kafka import spark_jars
from servers.waiting import wait_for

ROWS = 500
"""Number of orders that a test adds at a time."""

REAL_TIME = {"realTime": "1 second"}
MICRO_BATCH = {"processingTime": "0 seconds"}
AVAILABLE_NOW = {"availableNow": True}
CONTINUOUS = {"continuous": "500 milliseconds"}

_SELECT = [
    "killing(CAST(key AS STRING)) AS key",
    "concat_ws(',', partition, offset, CAST(key AS STRING)) AS value",
]
_EARLIEST = {"startingOffsets": "earliest"}
CONF = {
    "spark.sql.streaming.realTimeMode.minBatchDuration": "500",
    # The class path has only jars of the version of PySpark.
    **({} if spark_jars.FIT else {"spark.jars": ",".join(spark_jars.jars())}),
}
"""Settings of a query with short batches and with Spark's Kafka sink."""
_PATIENCE = 120


Q = TypeVar("Q", bound=Query)


class CopiesOf(Generic[Q]):
    """Topic of the copies of rows, and the query that writes the copies."""

    def __init__(
        self,
        relay: Q,
        replicas: int = 1,
        select: Sequence[str] = _SELECT,
        start: Mapping[str, str] = _EARLIEST,
        source: str = OURS,
    ) -> None:
        """Create the topic of the copies for a query.

        Args:
            relay: The query.
            replicas: Number of replicas of the topic of the copies.
            select: SELECT list with the columns ``key`` and ``value``, and the killing column.
            start: Options of the first start.
            source: Format of the source.
        """
        self.relay, self._start, self._source = relay, start, source
        self.sink = f"{relay.topic}-copies"
        relay.topics.create(self.sink, 2, {"retention.ms": "-1"}, replicas)
        self._ends: list[AbstractSet[Row]] = []
        self.relay.given(
            sink="kafka",
            select=select,
            output_mode="update",
            conf=CONF,
            sink_options={
                "kafka.bootstrap.servers": relay.topics.bootstrap_servers,
                "topic": self.sink,
            },
        )

    def start(self, trigger: Mapping[str, Any], *kills: Kill, **options: str) -> Life:
        """Start a run that is killed when it reaches one of the steps."""
        self.relay.given(trigger=trigger)
        return self.relay.start(self._source, *kills, **self._start, **options)

    def ended(self) -> None:
        """Record the end of a run, after which rows after the committed batch may be read again."""
        # The offset of a later batch may not contain a removed topic.
        before = self._ends[-1] if self._ends else set()
        self._ends.append(before | self.relay.committed_rows())

    def die(self, trigger: Mapping[str, Any], kill: Kill, **options: str) -> None:
        """Run the query until it is killed at a step, and assert the kill."""
        self.until_killed(self.start(trigger, kill, **options))

    def until_killed(self, life: Life) -> None:
        """Wait until a run is killed at its step."""
        with life:
            life.process.wait(_PATIENCE)
        self.ended()
        assert life.acted, f"the run ended without a kill:\n{life.process.tail()}"

    def finish(self, trigger: Mapping[str, Any], *kills: Kill, **options: str) -> None:
        """Run the query until all rows are copied, stop it, and assert that it did not fail."""
        with self.start(trigger, *kills, **options) as life:
            self.wait_for_all(life)
            life.finish()
        self.ended()

    def fail(self, trigger: Mapping[str, Any], **options: str) -> str:
        """Run the query until the query fails, and return the end of its log."""
        with self.start(trigger, **options) as life:
            code = life.process.wait(_PATIENCE)
        self.ended()
        assert code, f"the query did not fail:\n{life.process.tail()}"
        return life.process.tail(80)

    def planned_and_committed(self) -> tuple[int, int]:
        """Return the newest batches in the offset log and in the commit log; -1 without a batch."""
        return self.relay.checkpoint.planned(), self.relay.checkpoint.committed()

    def wait_for_all(self, life: Life) -> None:
        """Wait until each row has a copy.

        Raises:
            AssertionError: if the run ends before.
        """

        def is_over() -> bool:
            return life.process.exit_code not in (None, 0) or not self.missing()

        wait_for("all copies", is_over, _PATIENCE)
        assert not self.missing(), life.process.tail(80)

    def copies(self) -> Counter[Row]:
        """Return the number of copies of each row."""
        read = self.relay.topics.records(self.sink)
        values = ((message.value() or b"").decode().split(",") for message in read)
        return Counter(map(self.relay.row, values))

    def missing(self) -> AbstractSet[Row]:
        """Return the rows without a copy that need a copy."""
        return self.relay.rows() - self.copies().keys() - self.relay.excused()

    def assert_at_least_once(self) -> int:
        """Assert that each row has a copy, and further copies only because of interrupted batches.

        Returns:
            The number of copies that are duplicates.
        """
        self.assert_complete()
        return self.assert_only_running_batches_again()

    def assert_complete(self) -> None:
        """Assert that each row has a copy."""
        lost = self.missing()
        assert not lost, f"{len(lost)} rows were lost, the first rows {_first(lost)}"

    def assert_only_running_batches_again(self) -> int:
        """Assert that a row has one copy per run that read the row. Committed rows have one copy.

        Returns:
            The number of copies that are duplicates.
        """
        found = self.copies()
        foreign = found.keys() - self.relay.rows()
        assert not foreign, f"never written: {_first(foreign)}"
        for row, times in found.items():
            allowed = 1 + sum(row not in end for end in self._ends)
            assert times <= allowed, f"{row} has {times} copies, allowed {allowed}"
        return sum(found.values()) - len(found)


Copies = CopiesOf[Relay]
"""Copies of the rows of one topic."""


def _first(rows: AbstractSet[Row]) -> list[str]:
    return sorted(map(str, rows))[:10]
