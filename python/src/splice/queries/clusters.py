# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Clusters of a source, and groups of streams that wait for a change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from splice._internal import tables
from splice._internal.progress import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADINGS = (
    "cluster",
    "splits",
    "rows behind",
    "bytes behind",
    "time behind",
    "rows/s arriving",
    "unavailable for",
    "available",
    "response age",
    "topics waiting",
    "topics draining",
)


@dataclass(frozen=True)
class ClusterDescription:
    """State of one cluster of a source of several clusters. An unknown value is None.

    Attributes:
        name: Name of the cluster in the metadata.
        splits: Number of partitions that are read.
        rows_behind: Number of unread rows.
        bytes_behind: Estimated size of the unread rows, by the average size of read rows.
        seconds_behind: Upper bound of the age of the oldest unread row in seconds.
        rows_arriving_per_second: Rows per second that producers write to the cluster.
        unavailable_ms: Duration of the outage in milliseconds; None while the cluster responds.
        available: Whether the last request succeeded; None before the first request and while the
            cluster is not active.
        response_age_ms: Milliseconds since the last response; None as for ``available``.
        topics_waiting: Number of topics that Splice does not read yet, because the topics wait for
            a cutover, for their start, or with ``cutover=stream`` for a drain.
        topics_draining: Number of topics that Splice reads up to an end: removed topics, topics
            that a cutover leaves, and topics of streams with a stop.

    Examples:
        >>> builder = DynamicKafkaSource.builder().metadata_file("/config/streams.yaml")
        >>> streams = builder.streams("orders").starting_offsets("earliest").build()
        >>> copy = (
        ...     streams.read_stream(spark)
        ...     .writeStream.format("noop")
        ...     .option("checkpointLocation", "/checkpoints/streams")
        ...     .trigger(availableNow=True)
        ...     .start()
        ... )
        >>> copy.awaitTermination()
        >>> [(one.name, one.splits) for one in describe(copy).sources[0].clusters]
        [('east', 3)]
    """

    name: str
    splits: int | None
    rows_behind: int | None
    bytes_behind: int | None
    seconds_behind: int | None
    rows_arriving_per_second: int | None
    unavailable_ms: int | None
    available: bool | None = None
    response_age_ms: int | None = None
    topics_waiting: int | None = None
    topics_draining: int | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the values in the order of the headings; '-' for a value that is unknown."""
        available = None if self.available is None else ("yes" if self.available else "no")
        return tables.cells(
            (
                self.name,
                units.number(self.splits),
                units.number(self.rows_behind),
                units.size(self.bytes_behind),
                units.duration(self.seconds_behind),
                units.number(self.rows_arriving_per_second),
                units.milliseconds(self.unavailable_ms),
                available,
                units.milliseconds(self.response_age_ms),
                units.number(self.topics_waiting),
                units.number(self.topics_draining),
            )
        )


GROUP_HEADINGS = ("streams that wait", "generation", "wait for", "rejected")


@dataclass(frozen=True)
class WaitingGroupDescription:
    """Streams that a metadata document changes, and whose change waits or is rejected.

    Attributes:
        streams: Streams that change together; empty for a document that is rejected as a whole.
        generation: Generation of the document; None if the metadata service has no generations.
        waits_for: Clusters whose responses the change needs.
        rejected: Reason of the rejection, if this part of the document is rejected.

    Examples:
        >>> describe(query).sources[0].waiting_groups
        ()
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
            tuple(group["streams"]),
            group.get("generation"),
            tuple(group.get("waitsFor", ())),
            group.get("rejected"),
        )
        for group in found
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
            figures.get("rowsArrivingPerSecond"),
            figures.get("unavailableMs"),
            bool(figures["available"]) if "available" in figures else None,
            figures.get("responseAgeMs"),
            figures.get("topicsWaiting"),
            figures.get("topicsDraining"),
        )
        for name, figures in found.items()
    )
