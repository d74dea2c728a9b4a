# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Reader of a query's checkpoint, for a running query or after a kill."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Position:
    """Position of a hybrid source at the end of a batch."""

    leg: str
    legs: dict[str, Any]


@dataclass(frozen=True)
class Switch:
    """Switch to the second leg: the end of the first leg, and the start of the second leg."""

    end: Any
    start: dict[str, dict[str, int]]


class Checkpoint:
    """Checkpoint of a query with one source."""

    def __init__(self, folder: Path) -> None:
        """Create a reader of a folder, which may not exist yet."""
        self._folder = folder
        self._side_log = folder / "sources" / "0" / "splice"

    def planned(self) -> int:
        """Return the newest batch in the offset log; -1 before the first batch."""
        return self._newest("offsets")

    def committed(self) -> int:
        """Return the newest batch in the commit log; -1 before the first batch."""
        return self._newest("commits")

    def is_committed(self, batch: int) -> bool:
        """Return True if a batch is in the commit log."""
        return (self._folder / "commits" / str(batch)).exists()

    def position(self, batch: int) -> Position:
        """Return the position of a hybrid at the end of a batch."""
        legs = self.offset(batch)["legs"]
        return Position([name for name in self._legs() if name in legs][-1], legs)

    def offset(self, batch: int) -> dict[str, Any]:
        """Return the offset at the end of a batch, for any source."""
        lines = (self._folder / "offsets" / str(batch)).read_text().splitlines()
        found: dict[str, Any] = json.loads(lines[2])
        return found

    def committed_offset(self) -> dict[str, Any]:
        """Return the offset of the newest committed batch; empty before the first commit."""
        batch = self.committed()
        return self.offset(batch) if batch >= 0 else {}

    def has_committed(self, records: int) -> bool:
        """Return True if a Kafka source has committed this number of records, from offset 0."""
        topics = self.committed_offset().values()
        return sum(sum(partitions.values()) for partitions in topics) == records

    def entries(self) -> dict[str, str]:
        """Return the entries of the side log, including entries in subfolders."""
        found = sorted(f for f in self._side_log.rglob("*") if f.is_file())
        return {
            str(f.relative_to(self._side_log)): f.read_text()
            for f in found
            if not f.name.startswith(".")
        }

    @property
    def switch_has_begun(self) -> bool:
        """True if the side log has the switch to the second leg."""
        return any(self._side_log.glob("leg-*/hand-over-*"))

    def switch(self) -> Switch:
        """Return the switch to the second leg."""
        end, start = self._lines(f"leg-{self._legs()[1]}/hand-over-00000000")[1:3]
        return Switch(json.loads(end), json.loads(start))

    def _legs(self) -> list[str]:
        """Return the names of the legs in their order."""
        chain = json.loads(self._lines("chain-00000000")[0])
        return [leg["name"] for leg in chain["legs"]]

    def _lines(self, entry: str) -> list[str]:
        """Return the lines of an entry of the side log, without the line of its digest."""
        return (self._side_log / entry).read_text().splitlines()[1:]

    def _newest(self, log: str) -> int:
        folder = self._folder / log
        names = [f.name for f in folder.iterdir()] if folder.is_dir() else []
        return max((int(name) for name in names if name.isdigit()), default=-1)
