# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed over a history and a topic: a hybrid, killed where the seed says."""

from __future__ import annotations

from kill.scenario import Scenario
from servers.kafka import KafkaCluster
from soak.hybrid_fate import fate
from soak.story import Story


def run_seed(seed: int, topic: str, kafka: KafkaCluster, story: Story) -> None:
    """Runs one seed.

    Raises:
        AssertionError: if a row is missing or doubled, a decision was changed, or a life failed.
    """
    destiny = fate(seed)
    topics = kafka.topics
    try:
        scenario = Scenario.make(topics, topic, story.folder, destiny.rows)
        scenario.given(sink=destiny.sink)
        for life in destiny.lives:
            scenario.given(master=f"local[{life.cores}]")
            if life.more:
                scenario.produce(life.more)
            story.ends(scenario.run(life.kill))
        scenario.finish()
        scenario.assert_each_once()
        scenario.assert_switched_once()
    finally:
        topics.delete(topic)
