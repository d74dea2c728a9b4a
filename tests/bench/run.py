# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""``make bench``: starts a broker of its own and runs the JVM's benchmarks against it.

ROWS, BYTES, PARTITIONS, ROUNDS and CORES size it; CASES and ONLY choose; SERVERS names a broker
to use instead; OUT names a file for the tables.
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


def main() -> int:
    """Runs all benchmarks; answers sbt's exit code."""
    with ExitStack() as stack:
        servers = (
            os.environ.get("SERVERS")
            or stack.enter_context(KafkaCluster(heap="1g")).bootstrap_servers
        )
        command = [str(ROOT / "project" / "sbt"), f"bench/runMain splice.bench.Bench {servers}"]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
