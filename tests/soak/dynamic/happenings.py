# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Events of streams on three clusters: faults of clusters and of the metadata, and changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from servers.clusters import NAMES
from soak.dynamic.fate import Event, What
from soak.dynamic.places import Place, Places


class Happenings:
    """Events of the topics of streams."""

    def __init__(self, places: Places) -> None:
        """Create an instance for the topics of a metadata file."""
        self._places = places

    @contextmanager
    def happening(self, event: Event) -> Iterator[None]:
        """Cause an event, and end a temporary fault after the block."""
        places = self._places
        cluster = NAMES[event.which % len(NAMES)]
        match event.what:
            case What.DOWN:
                with places.lock:
                    places.down.add(cluster)
                places.clusters.kill(cluster)
            case What.CUT:
                places.clusters.east.cut()
            case What.NO_METADATA:
                places.hide()
            case What.OLD_METADATA:
                places.publish_old()
            case _:
                with places.lock:
                    self._changes(event, cluster)
                    places.publish()
        try:
            yield
        finally:
            match event.what:
                case What.DOWN:
                    places.clusters.start(cluster)
                    places.down.discard(cluster)
                case What.CUT:
                    places.clusters.east.heal()
                case What.NO_METADATA | What.OLD_METADATA:
                    places.publish()

    def _changes(self, event: Event, cluster: str) -> None:
        places = self._places
        match event.what:
            case What.ADD:
                places.produce(places.add(cluster), event.rows)
            case What.STREAM:
                stream = f"orders-{len(places.all)}"
                places.produce(places.add(cluster, stream), event.rows)
            case What.ADDRESS:
                places.change_address()
            case What.CREDENTIALS:
                places.clusters.west.change_user()
            case What.RETURN if places.gone:
                _one(places.gone, event).there = True
            case What.REMOVE if len(places.there) > 1:
                place = _one(places.there, event)
                place.there = False
                places.produce(place, event.rows)
            case What.MOVE:
                self._move(_one(places.there, event), event)
            case What.RENAME:
                place = _one(places.there, event)
                places.produce(places.add(place.cluster, place.stream), event.rows)
                place.there = False
            case What.PARTITION:
                places.add_partition(_one(places.there, event), event.rows)
            case _:
                places.produce(_one(places.there, event), event.rows)

    def _move(self, place: Place, event: Event) -> None:
        taken = {other.cluster for other in self._places.all if other.topic == place.topic}
        free = [name for name in NAMES if name not in taken]
        if free:
            moved = self._places.add(free[event.which % len(free)], place.stream, place.topic)
            self._places.produce(moved, event.rows)
            place.there = False


def _one(places: list[Place], event: Event) -> Place:
    return places[event.which % len(places)]
