# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""``make bench``: start brokers, and run the benchmarks of the JVM against these brokers.

ROWS, BYTES, PARTITIONS, ROUNDS, FILES and CORES set the size. CASES and ONLY select cases. SERVERS
sets an existing broker, or three clusters separated by spaces. OUT sets the file of the tables.
BASE sets a jar or a commit for a comparison with this tree, and PAIRS and JVMS set its size.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from bench.base import jar_of, own_jar  # noqa: E402
from servers.kafka.cluster import KafkaCluster  # noqa: E402

OF_SEVERAL = {"clusters", "away"}
"""Cases that need three clusters."""


def clusters() -> int:
    """Return the number of clusters that the selected cases need."""
    named = os.environ.get("CASES")
    chosen = None if named is None else set(named.split(","))
    if os.environ.get("BASE"):
        return 1 if chosen is None or "kafka" in chosen else 0
    return 3 if chosen is None or OF_SEVERAL & chosen else 1


def program() -> str:
    """Return the main class of the benchmark, with the arguments before the bootstrap servers."""
    base = os.environ.get("BASE")
    if not base:
        return "splice.bench.Bench"
    return f'splice.bench.builds.CompareBuilds "{jar_of(base)}" "{own_jar()}"'


def main() -> int:
    """Run all benchmarks, and return sbt's exit code."""
    chosen = program()
    with ExitStack() as stack:
        servers = os.environ.get("SERVERS") or " ".join(
            stack.enter_context(KafkaCluster(heap="1g")).bootstrap_servers
            for _ in range(clusters())
        )
        command = [str(ROOT / "project" / "sbt"), f"bench/runMain {chosen} {servers}"]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
