# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A query that copies streams on three clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from demo import orders
from kill.killing import Kill
from kill.life import Life
from kill.query import Query, Row
from soak.dynamic import applied
from soak.dynamic.places import Places


class Streams(Query):
    """Query over the topics of streams, whose rows are the numbers of orders."""

    def __init__(self, places: Places, topic: str, folder: Path) -> None:
        """Create a query with the topics, the first part of their names, and a folder."""
        super().__init__(places.clusters.topics("east"), topic, folder)
        self._places = places

    @property
    def source_options(self) -> Mapping[str, str]:
        """Return the options that determine the rows of the query."""
        return self._places.options(self.topic)

    def start(self, source: str, *kills: Kill, **options: str) -> Life:
        """Start a driver. The users of previous documents are no longer valid."""
        self._places.clusters.west.shut_out_old_users()
        return super().start(source, *kills, **options)

    def rows(self) -> AbstractSet[Row]:
        """Return the produced orders."""
        return set(range(self._places.produced))

    def row(self, copy: Sequence[str]) -> Row:
        """Return the order of a copy."""
        return int(copy[-1].removeprefix(orders.PREFIX))

    def excused(self) -> AbstractSet[Row]:
        """Return the orders of removed topics that no applied document has."""
        if "initial" not in self.checkpoint.entries():
            return set()
        unseen = self._places.unseen(applied.changes(self.folder / "checkpoint"))
        # The query must also apply the latest document, and read its topics.
        return {number for place in self._places.gone for number in place.numbers} & unseen

    def committed_rows(self) -> AbstractSet[Row]:
        """Return the orders before the committed offsets."""
        clusters = self.checkpoint.committed_offset().get("clusters", {})
        return {
            number
            for place in self._places.all
            for p, end in clusters.get(place.cluster, {}).get(place.topic, {}).items()
            for number in place.logs.get(int(p), [])[:end]
        }
