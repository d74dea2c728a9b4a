# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Queries in continuous mode that lose an executor or a broker."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kill.cluster import BOTH_EXECUTORS, executors, two_hosts
from kill.copies import CONF, CONTINUOUS, ROWS, Copies
from kill.relay import Relay
from servers.kafka.cluster import KafkaCluster
from servers.waiting import wait_for
from soak.patience import has_seen


@pytest.mark.skipif(sys.platform != "linux", reason="needs 127.0.0.2 as a host, and /proc")
def test_the_loss_of_an_executor_fails_the_query_and_a_restart_continues(
    copies: Copies, tmp_path: Path
) -> None:
    cluster = tmp_path / "cluster"
    with two_hosts(cluster) as master:
        copies.relay.given(master=master, conf=CONF | BOTH_EXECUTORS)
        with copies.start(CONTINUOUS) as life:
            copies.wait_for_all(life)
            wait_for("a commit", lambda: sum(copies.relay.committed().values()) == ROWS)
            copies.relay.produce(ROWS)
            os.kill(executors(cluster)[0], signal.SIGKILL)
            code = life.process.wait(120)
        copies.ended()
        assert code not in (0, None), life.process.tail()
        log = life.process.log.read_text()
        assert "ExecutorLostFailure" in log
        assert "StreamingQueryException" in log
        committed = copies.relay.committed()
        assert sum(committed.values()) >= ROWS
        copies.relay.produce(ROWS)
        copies.finish(CONTINUOUS)
    # A row of a committed epoch has one copy.
    copies.assert_at_least_once()


def test_a_broker_is_killed_during_an_epoch_and_starts_again(
    spark: SparkSession, own_kafka: KafkaCluster, tmp_path: Path
) -> None:
    copies = Copies(Relay(own_kafka.topics, "orders", tmp_path))
    copies.relay.given(session=spark)
    copies.relay.produce(ROWS)
    with copies.start(CONTINUOUS) as life:
        copies.wait_for_all(life)
        wait_for("a commit", lambda: sum(copies.relay.committed().values()) == ROWS)
        copies.relay.produce(ROWS)
        wait_for("rows of the next epoch", lambda: has_seen(life, ROWS + 1))
        # The tasks wait for the broker, and the epoch ends after the broker is available again.
        own_kafka.kill()
        own_kafka.start()
        copies.relay.produce(ROWS)
        copies.wait_for_all(life)
        wait_for("a commit", lambda: sum(copies.relay.committed().values()) == 3 * ROWS)
        life.finish()
    copies.ended()
    # The outage ends no task, so no row is read again.
    assert copies.assert_at_least_once() == 0
