# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What has been run, with which code, and how it ended: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

PASSED = "passed"


class Kind(str, Enum):
    """What a seed is of; the same number is another fate in each."""

    HYBRID = "hybrid"
    KAFKA = "kafka"
    DYNAMIC = "dynamic"
    REALTIME = "realtime"
    MEMORY = "memory"

    def __str__(self) -> str:
        """Gives its name in the ledger."""
        return self.value


@dataclass(frozen=True)
class Entry:
    """One seed's result.

    Attributes:
        seed: The seed, which says all that was left to chance.
        version: The version of Splice.
        commit: The commit of the code, with a ``+`` where it was changed.
        result: ``passed``, or what went wrong.
        seconds: How long it took.
        kills: Where the driver died.
        kind: What the seed is of.
        faults: What else befell the query.
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
    """The file; entries are only ever appended, and a line that was cut off does not count."""

    def __init__(self, file: Path) -> None:
        """Takes the file, which need not be there."""
        self.file = file

    def add(self, entry: Entry) -> None:
        """Appends an entry."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        cut_off = self.file.exists() and not self.file.read_bytes().endswith(b"\n")
        with self.file.open("a") as out:
            out.write(("\n" if cut_off else "") + json.dumps(asdict(entry)) + "\n")

    def entries(self) -> list[Entry]:
        """Reads all entries."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        return [_entry(found) for line in lines if (found := _read(line))]

    def to_run(self, seeds: Iterable[int], commit: str, kind: Kind) -> list[int]:
        """Leaves out the seeds that have passed with this very code; changed code has none."""
        if commit.endswith("+"):
            return list(seeds)
        done = {s for s, e in self._last(commit, kind).items() if e.result == PASSED}
        return [seed for seed in seeds if seed not in done]

    def all_passed(self, seeds: Iterable[int], commit: str, kind: Kind) -> bool:
        """Says whether each of the seeds has passed with this code, when it was last run."""
        last = self._last(commit, kind)
        return set(seeds) <= {s for s, e in last.items() if e.result == PASSED}

    def summary(self, seeds: Iterable[int], commit: str, kind: Kind) -> str:
        """Says how the seeds ended with this code, and names those that failed."""
        asked = set(seeds)
        last = {s: e for s, e in self._last(commit, kind).items() if s in asked}
        failed = sorted(s for s, e in last.items() if e.result != PASSED)
        deaths = sum(len(e.kills) for e in last.values())
        faults = sum(len(e.faults) for e in last.values())
        said = [
            f"{len(asked)} {kind} seeds at {commit}: {len(last) - len(failed)} passed, "
            f"{len(failed)} failed, {len(asked) - len(last)} not run; {deaths} deaths and "
            f"{faults} faults in {sum(e.seconds for e in last.values()):.0f} s"
        ]
        said += [f"  seed {seed}: {last[seed].result}" for seed in failed]
        return "\n".join(said)

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
