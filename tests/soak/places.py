# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Where streams lie: topics on three clusters, and the document that says so."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from demo import orders
from servers.clusters import NAMES, Clusters
from soak.applied import Topic


@dataclass
class Place:
    """A topic of a stream.

    Attributes:
        stream: The stream.
        cluster: The metadata's name of the cluster.
        topic: The topic.
        partitions: How many it has.
        there: Whether the metadata says that the stream lies there.
        rows: How many orders it holds.
    """

    stream: str
    cluster: str
    topic: str
    partitions: int = orders.PARTITIONS
    there: bool = True
    rows: int = 0


class Places:
    """All topics that ever belonged to the streams, and the metadata file.

    Attributes:
        held: How many rows each topic held when a generation was published.
    """

    def __init__(self, clusters: Clusters, name: str, folder: Path) -> None:
        """Takes the clusters, a name that no other topic begins with, and a folder for the file."""
        self.clusters, self.file = clusters, folder / "streams.json"
        self.all: list[Place] = []
        self.produced = 0
        self.held: list[dict[Topic, int]] = [{}]
        self._name, self._generation = name, 0
        self._numbers = itertools.count()
        self._direct = False

    @property
    def there(self) -> list[Place]:
        """Gives those that the metadata names."""
        return [place for place in self.all if place.there]

    @property
    def gone(self) -> list[Place]:
        """Gives those that it named once."""
        return [place for place in self.all if not place.there]

    def add(self, cluster: str, stream: str = "orders", topic: str | None = None) -> Place:
        """Makes a topic for a stream; the file does not say so yet."""
        own = Place(stream, cluster, topic or f"{self._name}-{next(self._numbers)}")
        self.clusters.create(cluster, own.topic, own.partitions, **orders.KEPT)
        self.all.append(own)
        return own

    def produce(self, place: Place, rows: int, partition: int | None = None) -> None:
        """Adds orders to a topic."""
        first, self.produced = self.produced, self.produced + rows
        records = orders.records(first, self.produced, partition)
        self.clusters.topics(place.cluster).produce(place.topic, records)
        place.rows += rows

    def add_partition(self, place: Place, rows: int) -> None:
        """Gives a topic one more partition, with orders in it."""
        place.partitions += 1
        self.clusters.topics(place.cluster).add_partitions(place.topic, place.partitions)
        self.produce(place, rows, place.partitions - 1)

    def change_address(self) -> None:
        """Lets the first cluster be reached past its proxies, or through them again."""
        self._direct = not self._direct

    def publish(self) -> None:
        """Replaces the file by one that says what holds now."""
        self._generation += 1
        self.held.append({(place.cluster, place.topic): place.rows for place in self.all})
        self._write(self._document(self._generation, self.there))

    def publish_old(self) -> None:
        """Replaces the file by one of the first generation, which names one topic only."""
        self._write(self._document(0, self.there[:1]))

    def hide(self) -> None:
        """Replaces the file by half of one."""
        self._write({"version": 1})

    def delete(self) -> None:
        """Removes all topics."""
        for place in self.all:
            self.clusters.topics(place.cluster).delete(place.topic)

    def _write(self, document: Mapping[str, object]) -> None:
        following = self.file.with_suffix(".next")
        following.write_text(json.dumps(document))
        following.replace(self.file)

    def _document(self, generation: int, places: list[Place]) -> dict[str, object]:
        streams: dict[str, dict[str, list[str]]] = {}
        for place in places:
            streams.setdefault(place.stream, {}).setdefault(place.cluster, []).append(place.topic)
        return {
            "version": 1,
            "generation": generation,
            # A life has many removals, and waits for the rows of each document.
            "confirmRemovals": 1000,
            "clusters": {name: self.clusters.reached(name, self._direct) for name in NAMES},
            "streams": streams,
        }
