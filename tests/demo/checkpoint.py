# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads a query's checkpoint from outside, while the query runs or after it was killed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Position:
    """How far a hybrid source was when a batch was planned."""

    leg: str
    legs: dict[str, Any]


@dataclass(frozen=True)
class Switch:
    """The switch into the second leg: where the first ended, where the second began."""

    end: Any
    start: dict[str, dict[str, int]]


class Checkpoint:
    """The checkpoint of a query with one source."""

    def __init__(self, folder: Path) -> None:
        """Takes the folder, which may not be there yet."""
        self._folder = folder
        self._side_log = folder / "sources" / "0" / "splice"

    def planned(self) -> int:
        """Gives the newest batch that is in the offset log; -1 before the first."""
        return self._newest("offsets")

    def committed(self) -> int:
        """Gives the newest batch that is in the commit log; -1 before the first."""
        return self._newest("commits")

    def is_committed(self, batch: int) -> bool:
        """Says whether a batch is in the commit log."""
        return (self._folder / "commits" / str(batch)).exists()

    def position(self, batch: int) -> Position:
        """Reads a batch's offset, a hybrid's."""
        legs = self.offset(batch)["legs"]
        return Position([name for name in self._legs() if name in legs][-1], legs)

    def offset(self, batch: int) -> dict[str, Any]:
        """Reads a batch's offset, whatever the source."""
        lines = (self._folder / "offsets" / str(batch)).read_text().splitlines()
        found: dict[str, Any] = json.loads(lines[2])
        return found

    def entries(self) -> dict[str, str]:
        """Reads the entries of the side log, those of its scopes too."""
        found = sorted(f for f in self._side_log.rglob("*") if f.is_file())
        return {
            str(f.relative_to(self._side_log)): f.read_text()
            for f in found
            if not f.name.startswith(".")
        }

    @property
    def switch_has_begun(self) -> bool:
        """Whether the rule of the second leg has decided."""
        return any(self._side_log.glob("leg-*/hand-over-*"))

    def switch(self) -> Switch:
        """Reads the switch into the second leg."""
        end, start = self._lines(f"leg-{self._legs()[1]}/hand-over-00000000")[1:3]
        return Switch(json.loads(end), json.loads(start))

    def _legs(self) -> list[str]:
        """Reads the names of the legs, in the order in which they are read."""
        chain = json.loads(self._lines("chain-00000000")[0])
        return [leg["name"] for leg in chain["legs"]]

    def _lines(self, entry: str) -> list[str]:
        """Reads an entry of the side log, without the line that holds its digest."""
        return (self._side_log / entry).read_text().splitlines()[1:]

    def _newest(self, log: str) -> int:
        folder = self._folder / log
        names = [f.name for f in folder.iterdir()] if folder.is_dir() else []
        return max((int(name) for name in names if name.isdigit()), default=-1)
