# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of queries in real-time mode.

No row is lost, and only rows of the interrupted batch are read twice.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from kill.backend.sample import REAL
from kill.cluster import BOTH_EXECUTORS, executors, two_hosts
from kill.copies import CONF, REAL_TIME, ROWS, Copies
from kill.killing import Kill
from kill.relay import Relay
from servers.kafka.cluster import KafkaCluster
from servers.waiting import wait_for
from soak.patience import has_seen

_SPARK = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
_LONG = {"realTime": "10 minutes"}


def test_killed_while_rows_are_read_and_before_the_batch_is_logged(copies: Copies) -> None:
    # A short batch may end before its tasks begin to read. The kill then occurs in a later batch.
    copies.die(_LONG, Kill("row", "order", nth=ROWS // 2, action=REAL["real-time"].action))
    assert copies.planned_and_committed() == (-1, -1)
    copies.die(_LONG, Kill("row", "order", nth=ROWS))
    copies.die(REAL_TIME, Kill.offsets(0))
    copies.finish(REAL_TIME)
    assert copies.assert_at_least_once() > 0


@pytest.mark.skipif(_SPARK < (4, 3), reason="these versions of Spark track progress on one thread")
@pytest.mark.parametrize("tracking", ["true", "false"])
def test_killed_before_a_commit_with_and_without_asynchronous_progress(
    copies: Copies, tracking: str
) -> None:
    tracked = {"asyncProgressTrackingEnabled": tracking}
    copies.relay.given(sink_options={**(copies.relay.setting.sink_options or {}), **tracked})
    for nth in (1, 2):
        copies.die(REAL_TIME, Kill("rename", r"/commits/\d+$", nth=nth))
        copies.relay.produce(ROWS)
    copies.finish(REAL_TIME)
    copies.assert_at_least_once()


@pytest.mark.skipif(_SPARK < (4, 3), reason="these versions of Spark accept stateless queries only")
def test_counts_of_a_stateful_query_after_kills(copies: Copies) -> None:
    relay = copies.relay
    # The stage after the shuffle needs a core in addition to the slot.
    shuffle = {"spark.sql.shuffle.partitions": "1"}
    relay.given(
        conf=CONF | shuffle,
        options={"slots": "1"},
        counted=True,
        # Spark removes a column that no count needs.
        select=["concat(left(killing(CAST(key AS STRING)), 0), partition) AS key"],
    )

    def counts() -> dict[int, int]:
        """Return the greatest count of each partition."""
        found: dict[int, int] = {}
        for copy in relay.topics.records(copies.sink):
            partition = int(copy.key() or b"")
            found[partition] = max(found.get(partition, 0), int(copy.value() or b""))
        return found

    for kill in (
        Kill("row", "order", nth=ROWS // 2),
        Kill("rename", r"/commits/\d+$", nth=2),
    ):
        copies.die(REAL_TIME, kill)
        relay.produce(ROWS)
    with copies.start(REAL_TIME) as life:
        wait_for("all counts", lambda: sum(counts().values()) >= relay.produced, 120)
        life.finish()
    # The state has each row once, also a row that is read again.
    assert counts() == {p: end for p, (_, end) in relay.topics.offsets(relay.topic).items()}


def test_a_broker_is_killed_and_starts_again(
    spark: SparkSession, own_kafka: KafkaCluster, tmp_path: Path
) -> None:
    copies = Copies(Relay(own_kafka.topics, "orders", tmp_path))
    copies.relay.given(session=spark)
    copies.relay.produce(ROWS)
    with copies.start(_LONG) as life:
        wait_for("rows", lambda: has_seen(life, ROWS // 2))
        own_kafka.kill()
        own_kafka.start()
        copies.relay.produce(ROWS)
        copies.wait_for_all(life)
        life.finish()
    copies.ended()
    copies.assert_at_least_once()


@pytest.mark.skipif(sys.platform != "linux", reason="needs 127.0.0.2 as a host, and /proc")
def test_an_executor_is_lost(copies: Copies, tmp_path: Path) -> None:
    cluster = tmp_path / "cluster"
    with two_hosts(cluster) as master:
        copies.relay.given(master=master, conf=CONF | BOTH_EXECUTORS)
        with copies.start(_LONG, discoveryInterval="500ms") as life:
            copies.wait_for_all(life)
            # The new partition ends the batch, and the next batch reads its rows.
            copies.relay.add_partition(ROWS)
            copies.wait_for_all(life)
            assert sum(copies.relay.committed().values()) == ROWS
            copies.relay.produce(ROWS)
            wait_for("more rows of the next batch", lambda: has_seen(life, 2 * ROWS + 1))
            # The lost task reads rows after the committed offsets again.
            copies.ended()
            os.kill(executors(cluster)[0], signal.SIGKILL)
            copies.relay.produce(ROWS)
            copies.wait_for_all(life)
            life.finish()
        log = life.process.log.read_text()
    assert "ExecutorLostFailure" in log
    # A row of a batch that was committed before the loss has one copy.
    copies.assert_at_least_once()
