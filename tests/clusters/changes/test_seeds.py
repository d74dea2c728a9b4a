# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A seed of soak: random changes and faults, and a driver that is killed."""

from __future__ import annotations

import uuid
from pathlib import Path

from rotation import turn
from servers.clusters import Clusters
from soak.dynamic.seed import run_seed
from soak.story import Story


def test_a_seed(clusters: Clusters, tmp_path: Path) -> None:
    seed = turn((15, 28))
    print(f"seed {seed}")
    run_seed(seed, f"seed-{uuid.uuid4().hex[:8]}", clusters, Story(tmp_path))
