# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Clusters of a source that reads several, and groups of streams that wait for a change."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from splice import tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADINGS = (
    "cluster",
    "splits",
    "rows behind",
    "bytes behind",
    "seconds behind",
    "rows/s arriving",
    "failing s",
)


@dataclass(frozen=True)
class ClusterDescription:
    """How one of several clusters fares; None is what is not known.

    Attributes:
        name: As the metadata names it.
        splits: Partitions that are read.
        rows_behind: Rows still to be read.
        bytes_behind: Their bytes, by the average of what was read.
        seconds_behind: How long ago the oldest of them came.
        rows_arriving: Rows a second that the cluster gets.
        failing_seconds: For how long it has given no answer; None while it answers.
    """

    name: str
    splits: int | None
    rows_behind: int | None
    bytes_behind: int | None
    seconds_behind: int | None
    rows_arriving: int | None
    failing_seconds: int | None

    def cells(self) -> tuple[str, ...]:
        """Gives the values in the order of the table's headings; '-' for what is not known."""
        return tables.cells(astuple(self))


GROUP_HEADINGS = ("streams that wait", "generation", "wait for", "rejected")


@dataclass(frozen=True)
class WaitingGroupDescription:
    """Streams that a metadata document changes, and that are still read as before.

    Attributes:
        streams: Streams that change together; empty for a document that is rejected as a whole.
        generation: Generation of the document; None if the metadata service has no generations.
        waits_for: Clusters whose responses the streams wait for.
        rejected: The reason, if this part of the document is rejected.
    """

    streams: tuple[str, ...]
    generation: int | None
    waits_for: tuple[str, ...]
    rejected: str | None

    def cells(self) -> tuple[str, ...]:
        """Return the values in the order of the headings; '-' for a value that is not set."""
        names = ", ".join(self.streams) or "all"
        clusters = ", ".join(self.waits_for) or None
        return tables.cells((names, self.generation, clusters, self.rejected))


def groups(found: Sequence[Mapping[str, Any]]) -> tuple[WaitingGroupDescription, ...]:
    """Return the groups of the figure ``waitingGroups``."""
    return tuple(
        WaitingGroupDescription(
            tuple(own["streams"]),
            own.get("generation"),
            tuple(own.get("waitsFor", ())),
            own.get("rejected"),
        )
        for own in found
    )


def described(found: Mapping[str, Mapping[str, int]]) -> tuple[ClusterDescription, ...]:
    """Return the clusters of the figure ``clusters``."""
    return tuple(
        ClusterDescription(
            name,
            figures.get("splits"),
            figures.get("rowsBehind"),
            figures.get("bytesBehind"),
            figures.get("secondsBehind"),
            figures.get("rowsArriving"),
            figures.get("failingSeconds"),
        )
        for name, figures in found.items()
    )
