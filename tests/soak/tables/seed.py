# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed over a table of Delta and a topic, with kills of the driver and other writers."""

from __future__ import annotations

from soak.story import Story
from soak.tables.fate import fate
from soak.tables.table import Lake, make
from tables import formats


def run_seed(seed: int, topic: str, lake: Lake, story: Story) -> None:
    """Run one seed.

    Raises:
        AssertionError: if a row is missing, duplicated or of another version, a decision changed,
            or a run failed.
    """
    destiny = fate(seed)
    try:
        scenario, table = make(lake, topic, story.folder, destiny)
        for life in destiny.lives:
            scenario.produce(life.more)
            story.faults += [change.name for change in life.changes if table.change(change)]
            conf = {**life.conf, **formats.catalogs(str(story.folder))}
            scenario.given(master=f"local[{life.cores}]", conf=conf)
            if life.kill:
                story.ends(scenario.run(life.kill))
            else:
                scenario.finish()
        scenario.assert_each_once()
        scenario.assert_switched_once()
    finally:
        lake.topics.delete(topic)
