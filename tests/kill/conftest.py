# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One scenario per test."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from kill.scenario import Scenario
from servers.kafka.topics import KafkaTopics


@pytest.fixture
def scenario(topics: KafkaTopics, tmp_path: Path) -> Scenario:
    """A small history, a topic, and a query that is not started."""
    return Scenario.make(topics, f"orders-{uuid.uuid4().hex[:8]}", tmp_path)


@pytest.fixture
def holed(topics: KafkaTopics, tmp_path: Path) -> Scenario:
    """A scenario whose history lacks records of the topic."""
    return Scenario.make(topics, f"orders-{uuid.uuid4().hex[:8]}", tmp_path, holes=True)
