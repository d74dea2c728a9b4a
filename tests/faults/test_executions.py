# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Lost executors, and interrupted runs. The sink must have each produced id once."""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conftest import MakeTopic
from faults.gate import Gate
from faults.order_stream import OrderStream
from kill.cluster import two_hosts
from kill.killing import Kill
from kill.scenario import Scenario
from programs import launch
from servers.kafka.topics import KafkaTopics


@pytest.mark.skipif(sys.platform != "linux", reason="needs 127.0.0.2 as a host")
def test_executors_are_lost(topics: KafkaTopics, tmp_path: Path) -> None:
    scenario = Scenario.make(topics, f"orders-{uuid.uuid4().hex[:8]}", tmp_path)
    lost = [scenario.some_name("history"), scenario.some_name("live")]
    with two_hosts(tmp_path / "cluster") as master:
        scenario.given(master=master, conf={"spark.locality.wait": "0s"})
        life = scenario.finish(*(Kill("row", f"^{name}$", action="lose") for name in lost))
    # Each row ended its first executor, and was read again in another executor.
    assert [sum(row == name for row in life.rows) for name in lost] == [2, 2]
    scenario.assert_each_once()
    scenario.assert_switched_once()


@pytest.mark.skipif(sys.platform != "linux", reason="needs 127.0.0.2 as a host")
def test_an_executor_that_is_lost_moves_its_slot_only(
    topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    with two_hosts(tmp_path / "cluster") as master:
        moves = _changed("lose", master, topics, make_topic(4), tmp_path)
    assert moves == {"before": [0] * 4, "after": [1] * 4}


@pytest.mark.skipif(sys.platform != "linux", reason="needs 127.0.0.2 as a host")
def test_slots_follow_the_cores_of_the_cluster(
    topics: KafkaTopics, make_topic: MakeTopic, tmp_path: Path
) -> None:
    with two_hosts(tmp_path / "cluster", cores=2) as master:
        slots = _changed("follow", master, topics, make_topic(4), tmp_path)
    assert slots == [2, 2, 4]


def _changed(
    change: str, master: str, topics: KafkaTopics, topic: str, folder: Path
) -> dict[str, list[int]] | list[int]:
    """Run the program whose cluster changes, and return its result."""
    given = change, master, topics.bootstrap_servers, topic, str(folder)
    env = {"SPARK_LOCAL_IP": "127.0.0.1"}
    output = launch.run([sys.executable], "change_executors", *given, env=env)
    result = folder / "result.json"
    assert result.exists(), output[-6000:]
    changed: dict[str, list[int]] | list[int] = json.loads(result.read_text())
    return changed


def test_stopped_in_the_middle_of_batches(
    spark: SparkSession, topics: KafkaTopics, tmp_path: Path
) -> None:
    stream = OrderStream(spark, topics, tmp_path)
    for run in range(4):
        stream.produce(20_000)
        gate = Gate(tmp_path / f"gate-{run}")
        query = stream.start(gate, maxOffsetsPerTrigger="15000")
        gate.wait()
        query.stop()
        assert query.exception() is None
    stream.finish(stream.start())
