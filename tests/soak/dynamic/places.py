# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Topics of streams on three clusters, and their metadata document."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from demo import orders
from servers.clusters import NAMES, Clusters
from soak.dynamic.applied import Applied, Topic, owed


@dataclass
class Place:
    """Topic of a stream.

    Attributes:
        stream: Name of the stream.
        cluster: Name of the cluster in the metadata.
        topic: Name of the topic.
        partitions: Number of partitions.
        there: True if the metadata has the topic.
        numbers: Numbers of its orders, in the sequence of their production.
        logs: Numbers of the orders of each partition. The index of an order is its offset.
    """

    stream: str
    cluster: str
    topic: str
    partitions: int = orders.PARTITIONS
    there: bool = True
    numbers: list[int] = field(default_factory=list)
    logs: dict[int, list[int]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Return the number of orders."""
        return len(self.numbers)


class Places:
    """All current and former topics of the streams, and the metadata file.

    A second thread may produce orders during changes, see ``Flow``.

    Attributes:
        lock: Lock of all changes.
        down: Clusters that accept no orders.
        held: Number of rows of each topic at the publication of each generation.
    """

    def __init__(self, clusters: Clusters, name: str, folder: Path) -> None:
        """Create an instance with clusters, a unique prefix of topic names, and a folder."""
        self.clusters, self.file = clusters, folder / "streams.json"
        self.all: list[Place] = []
        self.produced = 0
        self.held: list[dict[Topic, int]] = [{}]
        self.lock = threading.RLock()
        self.down: set[str] = set()
        self._name, self._generation = name, 0
        self._numbers = itertools.count()
        self._direct = False

    @property
    def there(self) -> list[Place]:
        """Return the topics of the metadata."""
        return [place for place in self.all if place.there]

    @property
    def gone(self) -> list[Place]:
        """Return the previous topics of the metadata."""
        return [place for place in self.all if not place.there]

    def add(self, cluster: str, stream: str = "orders", topic: str | None = None) -> Place:
        """Create a topic of a stream, without publishing it."""
        place = Place(stream, cluster, topic or f"{self._name}-{next(self._numbers)}")
        self.clusters.create(cluster, place.topic, place.partitions, **orders.KEPT)
        with self.lock:
            self.all.append(place)
        return place

    def produce(self, place: Place, rows: int, partition: int | None = None) -> None:
        """Add orders to a topic."""
        with self.lock:
            first, self.produced = self.produced, self.produced + rows
            records = list(orders.records(first, self.produced, partition))
            self.clusters.topics(place.cluster).produce(place.topic, records)
            for number, record in enumerate(records, first):
                place.numbers.append(number)
                place.logs.setdefault(record.partition, []).append(number)

    def add_partition(self, place: Place, rows: int) -> None:
        """Add a partition with orders to a topic."""
        place.partitions += 1
        self.clusters.topics(place.cluster).add_partitions(place.topic, place.partitions)
        self.produce(place, rows, place.partitions - 1)

    def change_address(self) -> None:
        """Switch the address of the first cluster between the proxies and the brokers."""
        self._direct = not self._direct

    def options(self, group: str) -> dict[str, str]:
        """Return the options that determine the rows of a query with a consumer group."""
        return {
            "metadata.file": str(self.file),
            "streamPattern": "^orders",
            "startingOffsets": "earliest",
            "kafka.group.id": group,
            **self.clusters.west.options,
        }

    def unseen(self, log: Sequence[Applied]) -> set[int]:
        """Return the orders that no applied document has, by the changes of a query."""
        return {
            number
            for place in self.all
            for number in place.numbers[owed((place.cluster, place.topic), self.held, log) :]
        }

    def publish(self) -> None:
        """Publish a document with the current topics."""
        with self.lock:
            self._generation += 1
            self.held.append({(place.cluster, place.topic): place.rows for place in self.all})
            self._write(self._document(self._generation, self.there))

    def publish_old(self) -> None:
        """Publish a document of the first generation with one topic."""
        self._write(self._document(0, self.there[:1]))

    def hide(self) -> None:
        """Replace the file by the first half of the document."""
        self._write({"version": 1})

    def delete(self) -> None:
        """Delete all topics."""
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
            # A run has many removals, and waits for the rows of each document.
            "confirmRemovals": 1000,
            "clusters": {name: self.clusters.reached(name, self._direct) for name in NAMES},
            "streams": streams,
        }
