# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One seed over a watched folder, with kills of the driver while a thread adds files."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from kill.copies import AVAILABLE_NOW
from kill.life import Life
from servers.kafka.cluster import KafkaCluster
from servers.waiting import wait_for
from soak.files.fate import LifeFate, fate
from soak.files.folder import GrowingFolder, Writer
from soak.patience import PATIENCE, wait_for_rows
from soak.story import Story


def run_seed(seed: int, topic: str, kafka: KafkaCluster, story: Story) -> None:
    """Run one seed.

    Raises:
        AssertionError: if a row is missing or duplicated, the topic was not read, or a run failed.
    """
    destiny = fate(seed)
    folder = GrowingFolder(kafka.topics, topic, story.folder, destiny)
    *lives, last = destiny.lives
    try:
        folder.add()
        for life in lives:
            _live(folder, life, story)
        _finish(folder, last, story)
        folder.assert_each_once()
        # All files were read, so the next run reads no row.
        again = _start(folder, last, AVAILABLE_NOW)
        again.process.wait(PATIENCE)
        assert story.ends(again)
        assert not again.rows, again.rows[:10]
        assert not destiny.end or folder.checkpoint.switch_has_begun
    finally:
        kafka.topics.delete(topic)


def _start(folder: GrowingFolder, life: LifeFate, trigger: Mapping[str, Any]) -> Life:
    folder.given(master=f"local[{life.cores}]", trigger=trigger)
    return folder.start("splice", *([life.kill] if life.kill else []), **life.options)


def _live(folder: GrowingFolder, given: LifeFate, story: Story) -> None:
    """Kill a run at its step, or at its time."""
    with Writer(folder), _start(folder, given, given.trigger) as life:
        wait_for_rows(life, given.rows)
        with suppress(TimeoutError):
            life.process.wait(given.seconds)
        is_slain = life.process.exit_code is None
    if is_slain and not life.acted:
        story.kills.append("SIGKILL")
    else:
        story.ends(life)


def _finish(folder: GrowingFolder, given: LifeFate, story: Story) -> None:
    """Run the query until it has read all orders."""
    folder.close()
    if folder.has_switched():
        story.faults.append("the folder was deleted after the switch")
        shutil.rmtree(folder.path)
    with _start(folder, given, given.trigger) as life:
        if given.trigger == AVAILABLE_NOW:
            life.process.wait(PATIENCE)
        else:
            process = life.process
            wait_for(
                "all orders", lambda: process.exit_code is not None or folder.is_read(), PATIENCE
            )
            life.finish()
    story.ends(life)
