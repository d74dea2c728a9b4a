# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""``make bench``: starts brokers of its own and runs the JVM's benchmarks against them.

ROWS, BYTES, PARTITIONS, ROUNDS and CORES size it; CASES and ONLY choose; SERVERS names a broker
to use instead, or three clusters divided by spaces; OUT names a file for the tables.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from servers.kafka import KafkaCluster  # noqa: E402

OF_SEVERAL = {"clusters", "away"}
"""The cases that need three clusters."""


def clusters() -> int:
    """How many clusters the chosen cases need."""
    chosen = os.environ.get("CASES")
    return 3 if chosen is None or OF_SEVERAL & set(chosen.split(",")) else 1


def main() -> int:
    """Runs all benchmarks; answers sbt's exit code."""
    with ExitStack() as stack:
        servers = os.environ.get("SERVERS") or " ".join(
            stack.enter_context(KafkaCluster(heap="1g")).bootstrap_servers
            for _ in range(clusters())
        )
        command = [str(ROOT / "project" / "sbt"), f"bench/runMain splice.bench.Bench {servers}"]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
