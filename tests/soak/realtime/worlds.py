# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Sources of queries in real-time mode, with their events."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kill.copies import Copies, CopiesOf
from kill.low_latency.chain import Chain
from kill.relay import Relay
from servers.clusters import NAMES, Clusters
from servers.kafka.brokers import KafkaBrokers
from soak.dynamic.happenings import Happenings
from soak.dynamic.places import Places
from soak.kafka.bad_world import befall
from soak.kafka.changing_topics import ChangingTopics
from soak.kafka.fate import What
from soak.kafka.policies import PERMISSIVE
from soak.realtime.fate import RealTimeFate, Source
from soak.realtime.recreated import Recreated
from soak.realtime.streams import Streams

_REPLICAS = 3
_FEWEST = 300
"""Minimum number of orders of a topic with an archive."""


class World(ABC):
    """Source of a query, and events of the source."""

    copies: CopiesOf[Any]
    options: Mapping[str, str] = {}
    """Options of every run of the query."""

    @abstractmethod
    def produce(self, rows: int) -> None:
        """Add orders."""

    @abstractmethod
    def happening(self, event: Any) -> AbstractContextManager[None]:
        """Cause an event, and end a temporary fault after the block."""

    @abstractmethod
    def drop(self) -> None:
        """Delete the topics of the source."""

    def ends(self) -> None:
        """Record the end of a run of the driver."""
        self.copies.ended()

    def errors(self) -> set[str]:
        """Return the errors with which a run may fail without a fault."""
        return set()

    def finish(self, trigger: Mapping[str, Any], options: Mapping[str, str]) -> None:
        """Run the query until all rows are copied."""
        self.copies.finish(trigger, **options)
        self.copies.assert_complete()


class TopicWorld(World):
    """Topic on three brokers, with or without an archive of the first orders."""

    def __init__(
        self, relay: Relay, copies: Copies, brokers: KafkaBrokers, rows: int | None = None
    ) -> None:
        self._relay, self.copies, self._brokers = relay, copies, brokers
        if rows:
            self.produce(rows)

    def produce(self, rows: int) -> None:
        self._relay.produce(rows)

    @contextmanager
    def happening(self, event: Any) -> Iterator[None]:
        match event.what:
            case What.PARTITION:
                self._add_partition(event.rows)
                yield
            case What.PRODUCE:
                self.produce(event.rows)
                yield
            case _:
                with befall(event, self._brokers):
                    yield

    def ends(self) -> None:
        self._brokers.start_all()
        super().ends()

    def drop(self) -> None:
        self._relay.topics.delete(self._relay.topic)

    def _add_partition(self, rows: int) -> None:
        self._relay.add_partition(rows)


class RecreatedWorld(TopicWorld):
    """Topic on three brokers, and other topics, which are deleted and created again."""

    # The options of a run contain its policy for removed topics.
    options = replace(PERMISSIVE, removed=None).options

    def __init__(self, relay: Recreated, brokers: KafkaBrokers, rows: int, others: int) -> None:
        self._topics = ChangingTopics(relay, [rows] * others, pattern=others % 2 == 0)
        self._recreated = relay
        relay.log = self._topics.log
        super().__init__(relay, Copies(relay, _REPLICAS), brokers, rows)

    def produce(self, rows: int) -> None:
        self._topics.produce(rows)

    @contextmanager
    def happening(self, event: Any) -> Iterator[None]:
        if event.what != What.RECREATE:
            with super().happening(event):
                yield
            return
        self._topics.remove(event)
        yield
        self._topics.assert_stay_deleted()
        self._topics.restore(event)

    def ends(self) -> None:
        super().ends()
        self._topics.log.ran(PERMISSIVE)
        self._topics.life += 1

    def errors(self) -> set[str]:
        return self._topics.log.errors(PERMISSIVE, self._topics.unknown())

    def finish(self, trigger: Mapping[str, Any], options: Mapping[str, str]) -> None:
        super().finish(trigger, options)
        self._recreated.assert_reported(self.copies.copies().keys())

    def drop(self) -> None:
        self._topics.drop()

    def _add_partition(self, rows: int) -> None:
        self._topics.add_partition(rows)


class DynamicWorld(World):
    """Streams on three clusters, whose metadata changes."""

    def __init__(self, places: Places, topic: str, folder: Path) -> None:
        self._places, self._happenings = places, Happenings(places)
        streams = Streams(places, topic, folder)
        self.copies = CopiesOf(streams, _REPLICAS, source="splice-dynamic-kafka", start={})

    def produce(self, rows: int) -> None:
        there = self._places.there
        for place in there:
            self._places.produce(place, rows // len(there))

    def happening(self, event: Any) -> AbstractContextManager[None]:
        return self._happenings.happening(event)

    def finish(self, trigger: Mapping[str, Any], options: Mapping[str, str]) -> None:
        """Check the orders of removed topics, then add all topics again and check all orders.

        A topic that is added again is read from its position, which hides lost rows of its drain.
        """
        super().finish(trigger, options)
        for place in self._places.gone:
            place.there = True
        self._places.publish()
        super().finish(trigger, options)

    def drop(self) -> None:
        self._places.delete()


def make(seed: int, destiny: RealTimeFate, clusters: Clusters, topic: str, folder: Path) -> World:
    """Create the source of a seed with its first orders."""
    brokers, source, rows = clusters.east, destiny.source, destiny.rows
    if source is Source.DYNAMIC:
        places = Places(clusters, topic, folder)
        for number in range(destiny.topics):
            place = places.add(NAMES[(seed // len(Source) + number) % len(NAMES)])
            places.produce(place, rows // destiny.topics)
        places.publish()
        return DynamicWorld(places, topic, folder)
    given = (brokers.topics, topic, folder, brokers.proxied_servers, _REPLICAS)
    if source is Source.RECREATED:
        return RecreatedWorld(Recreated(*given), brokers, rows, destiny.topics - 1)
    if source is Source.HYBRID:
        chain = Chain(*given)
        chain.produce(max(rows, _FEWEST))
        chain.keep()
        return TopicWorld(chain, chain.copied(_REPLICAS), brokers)
    relay = Relay(*given)
    return TopicWorld(relay, Copies(relay, _REPLICAS), brokers, rows)
