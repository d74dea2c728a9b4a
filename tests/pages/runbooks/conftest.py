# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Two clusters for the pages about many clusters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pages.runbooks.sites import Sites
from servers.kafka.cluster import KafkaCluster
from servers.logins.login_kafka import LoginKafka


@pytest.fixture(scope="package")
def sites() -> Iterator[Sites]:
    """Two clusters. A test that stops the cluster east must accept a stopped cluster."""
    with LoginKafka(heap="256m") as east, KafkaCluster(heap="256m") as west:
        yield Sites(east, west)
