# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills at the switch from a Kafka leg. The end of the leg is committed to its consumer group."""

from __future__ import annotations

import uuid
from pathlib import Path

from demo import orders
from demo.checkpoint import Checkpoint
from demo.judge import judge_output
from kill import killing
from kill.killing import Kill
from kill.life import Life
from kill.scenario import LIVE_SELECT
from servers.kafka.topics import KafkaTopics

_ROWS = 900
_SWITCH = 1
_ENTRY = "leg-first/committed"


def test_a_later_run_commits_the_end_of_a_leg(topics: KafkaTopics, tmp_path: Path) -> None:
    topic = f"orders-{uuid.uuid4().hex[:8]}"
    topics.create(topic, orders.PARTITIONS, orders.KEPT)
    topics.produce(topic, orders.records(0, _ROWS))
    ends = {p: end for p, (_, end) in topics.offsets(topic).items()}
    checkpoint = Checkpoint(tmp_path / "checkpoint")

    # Spark calls commit of the source right after the next batch's entry in the log.
    _die(topics, topic, tmp_path, Kill.offsets(_SWITCH, "after", "signal"))
    _die(topics, topic, tmp_path, Kill.commits(_SWITCH, "before", "signal"))
    assert topics.committed(topic, topic) == {}
    assert _ENTRY not in checkpoint.entries()
    # The sink has the batch of the switch, so Spark does not plan this batch again, and no batch
    # follows.
    last = _run(topics, topic, tmp_path)
    assert last.process.exit_code == 0, last.process.tail(80)
    assert checkpoint.committed() == _SWITCH
    assert topics.committed(topic, topic) == ends
    assert _ENTRY in checkpoint.entries()
    verdict = judge_output(tmp_path / "output", "parquet", _ROWS)
    assert str(verdict) == f"rows {_ROWS} missing 0 duplicated 0"


def _die(topics: KafkaTopics, topic: str, folder: Path, kill: Kill) -> None:
    life = _run(topics, topic, folder, kill)
    assert life.acted, f"the driver was not killed at {kill}:\n{life.process.tail()}"


def _run(topics: KafkaTopics, topic: str, folder: Path, *kills: Kill) -> Life:
    log = {
        "source": "kafka",
        "kafka.bootstrap.servers": topics.bootstrap_servers,
        "subscribe": topic,
        "select": LIVE_SELECT,
    }
    group = {"commitToGroup": "true", "kafka.group.id": topic}
    legs = {
        "first": log | group | {"startingOffsets": "earliest", "endingOffsets": "latest"},
        "live": log | {"handOver": "offsets"},
    }
    options = {
        f"{leg}.{key}": value for leg, settings in legs.items() for key, value in settings.items()
    }
    query = {
        "options": {"source": "hybrid", "legs": "first,live"} | options | killing.OPTIONS,
        "checkpoint": f"{killing.SCHEME}://{folder / 'checkpoint'}",
        "output": f"{killing.SCHEME}://{folder / 'output'}",
        "sink": "parquet",
        "sink_options": {},
        "trigger": {"availableNow": True},
    }
    with Life.begin(folder / f"life-{uuid.uuid4().hex[:8]}", [query], kills) as life:
        life.process.wait(180)
    return life
