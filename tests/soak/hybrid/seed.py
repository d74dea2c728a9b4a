# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed over a history and a topic, with kills of the driver."""

from __future__ import annotations

from kill.killing import Kill
from kill.scenario import Scenario
from servers.kafka.cluster import KafkaCluster
from servers.storage.store import Store
from soak.hybrid.fate import fate
from soak.story import Story


def run_seed(
    seed: int, topic: str, kafka: KafkaCluster, story: Story, store: Store | None = None
) -> None:
    """Run one seed, with its checkpoint on an optional store.

    Raises:
        AssertionError: if a row is missing or duplicated, a decision changed, or a run failed.
    """
    destiny = fate(seed)
    topics = kafka.topics
    try:
        scenario = Scenario.make(topics, topic, story.folder, destiny.rows)
        scenario.given(sink=destiny.sink, store=store)
        for life in destiny.lives:
            scenario.given(master=f"local[{life.cores}]")
            if life.more:
                scenario.produce(life.more)
            _live(scenario, life.kill, story, store)
        scenario.finish()
        scenario.assert_each_once()
        scenario.assert_switched_once()
    finally:
        topics.delete(topic)


def _live(scenario: Scenario, kill: Kill, story: Story, store: Store | None) -> None:
    if store:
        store.spare()
    life = scenario.start(kill)
    if store and kill.what != "row":
        store.kill_at(kill.when, kill.nth, life.process.pid, kill.name)
    scenario.end(life)
    if store and store.acted:
        story.kills.append(store.acted)
    else:
        story.ends(life)
