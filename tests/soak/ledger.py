# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Ledger of seeds with their commits and results, as one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

PASSED = "passed"


class Kind(str, Enum):
    """Kind of a seed. The same number results in different choices for each kind."""

    HYBRID = "hybrid"
    KAFKA = "kafka"
    DYNAMIC = "dynamic"
    REALTIME = "realtime"
    MEMORY = "memory"
    LIVES = "lives"
    TABLES = "tables"
    FILES = "files"

    def __str__(self) -> str:
        """Return the name in the ledger."""
        return self.value


@dataclass(frozen=True)
class Entry:
    """Result of one seed.

    Attributes:
        seed: The seed, which determines all random choices.
        version: Version of Splice.
        commit: Commit of the code, with a ``+`` for changed files.
        result: ``passed``, or the error.
        seconds: Duration.
        kills: Steps at which the driver was killed.
        kind: Kind of the seed.
        faults: Other faults of the run.
    """

    seed: int
    version: str
    commit: str
    result: str
    seconds: float
    kills: list[str]
    kind: Kind = Kind.HYBRID
    faults: list[str] = field(default_factory=list)


class Ledger:
    """File of entries. Entries are only appended, and an incomplete line is ignored."""

    def __init__(self, file: Path) -> None:
        """Create a ledger for a file, which may not exist."""
        self.file = file

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        cut_off = self.file.exists() and not self.file.read_bytes().endswith(b"\n")
        with self.file.open("a") as out:
            out.write(("\n" if cut_off else "") + json.dumps(asdict(entry)) + "\n")

    def entries(self) -> list[Entry]:
        """Return all entries."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        return [_entry(found) for line in lines if (found := _read(line))]

    def to_run(self, seeds: Iterable[int], commit: str, kind: Kind) -> list[int]:
        """Return the seeds that have not passed with this commit, or all seeds for changed code."""
        if commit.endswith("+"):
            return list(seeds)
        done = {s for s, e in self._last(commit, kind).items() if e.result == PASSED}
        return [seed for seed in seeds if seed not in done]

    def all_passed(self, seeds: Iterable[int], commit: str, kind: Kind) -> bool:
        """Return True if the last run of each seed with this commit has passed."""
        last = self._last(commit, kind)
        return set(seeds) <= {s for s, e in last.items() if e.result == PASSED}

    def summary(self, seeds: Iterable[int], commit: str, kind: Kind) -> str:
        """Return the numbers of passed and failed seeds with this commit, and the failed seeds."""
        requested = set(seeds)
        last = {s: e for s, e in self._last(commit, kind).items() if s in requested}
        failed = sorted(s for s, e in last.items() if e.result != PASSED)
        deaths = sum(len(e.kills) for e in last.values())
        faults = sum(len(e.faults) for e in last.values())
        lines = [
            f"{len(requested)} {kind} seeds at {commit}: {len(last) - len(failed)} passed, "
            f"{len(failed)} failed, {len(requested) - len(last)} not run; {deaths} deaths and "
            f"{faults} faults in {sum(e.seconds for e in last.values()):.0f} s"
        ]
        lines += [f"  seed {seed}: {last[seed].result}" for seed in failed]
        return "\n".join(lines)

    def _last(self, commit: str, kind: Kind) -> dict[int, Entry]:
        return {e.seed: e for e in self.entries() if e.commit == commit and e.kind is kind}


def _entry(found: dict[str, Any]) -> Entry:
    return Entry(**found | {"kind": Kind(found.get("kind", Kind.HYBRID))})


def _read(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None
