# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""``make bench``: starts brokers of its own and runs the JVM's benchmarks against them.

ROWS, BYTES, PARTITIONS, ROUNDS and CORES size it; CASES and ONLY choose; SERVERS names a broker
to use instead, or three clusters divided by spaces; OUT names a file for the tables. BASE names a
jar or a commit to compare this tree with; PAIRS and JVMS size the comparison.
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
from servers.kafka import KafkaCluster  # noqa: E402

OF_SEVERAL = {"clusters", "away"}
"""The cases that need three clusters."""


def clusters() -> int:
    """How many clusters the chosen cases need."""
    named = os.environ.get("CASES")
    chosen = None if named is None else set(named.split(","))
    if os.environ.get("BASE"):
        return 1 if chosen is None or "kafka" in chosen else 0
    return 3 if chosen is None or OF_SEVERAL & chosen else 1


def program() -> str:
    """The program to run, with the arguments before the bootstrap servers."""
    base = os.environ.get("BASE")
    if not base:
        return "splice.bench.Bench"
    return f'splice.bench.builds.CompareBuilds "{jar_of(base)}" "{own_jar()}"'


def main() -> int:
    """Runs all benchmarks; answers sbt's exit code."""
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
