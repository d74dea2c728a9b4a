# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Groups of streams that wait for a change of the metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from splice import tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADINGS = ("streams that wait", "generation", "wait for", "rejected")


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


def described(groups: Sequence[Mapping[str, Any]]) -> tuple[WaitingGroupDescription, ...]:
    """Return the groups of the figure ``waitingGroups``."""
    return tuple(
        WaitingGroupDescription(
            tuple(own["streams"]),
            own.get("generation"),
            tuple(own.get("waitsFor", ())),
            own.get("rejected"),
        )
        for own in groups
    )
