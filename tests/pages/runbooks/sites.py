# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Two clusters, a producer of orders, and the folders of a runbook."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from background import Background
from demo.checkpoint import Checkpoint
from demo.judge import SinkLog
from orders import assert_each_once, order_id, orders
from servers.kafka.cluster import KafkaCluster
from servers.kafka.node import ProcessNode
from servers.kafka.producer import Record
from servers.kafka.topics import KafkaTopics
from servers.logins.login_kafka import LoginKafka
from servers.waiting import wait_for

FOLDERS = ("/config/", "/lake/", "/checkpoints/", "/run/secrets")

_OPEN = 30
"""Seconds for the plan of a batch with new rows, before the rows are produced again."""

_STUCK = 25
"""Seconds without an end after which a batch lacks records. A batch with all its records needs less
than one second of processor time for its end."""

Place = tuple[str, str]
"""Cluster and topic."""


class Sites:
    """Two clusters. East has a listener with logins in addition to its plain listener."""

    def __init__(self, east: LoginKafka, west: KafkaCluster) -> None:
        """Create the sites of running clusters."""
        self.east, self.west = east, west

    def topics(self, cluster: str) -> KafkaTopics:
        """Return the topics of a cluster."""
        return (self.east if cluster == "east" else self.west).topics

    def start(self) -> None:
        """Start the cluster east again, if a runbook has stopped this cluster."""
        if self.east.node.failure() is not None:
            self.east.start()

    def clean(self) -> None:
        """Delete the topics of all runbooks."""
        for cluster in ("east", "west"):
            topics = self.topics(cluster)
            for name in topics.names():
                if not name.startswith("__"):
                    topics.delete(name)

    def fail_within_a_batch(self, checkpoint: Path, produce: Callable[[], None]) -> None:
        """Kill the cluster east after Spark has planned a batch and before the batch ends.

        Args:
            checkpoint: Checkpoint of a running query without a backlog.
            produce: Writes the rows of the batch. It is repeated if the batch ends too early.
        """
        node, batches = self.east.node, Checkpoint(checkpoint)
        assert isinstance(node, ProcessNode)

        def is_open() -> bool:
            return batches.planned() > batches.committed()

        def is_stuck() -> bool:
            produce()
            end = time.monotonic() + _OPEN
            # A longer pause would let the batch end before the freeze.
            while not is_open() and time.monotonic() < end:
                time.sleep(0.005)
            node.freeze()
            try:
                # Tasks that have read their records end without the cluster.
                wait_for("the end of the batch", lambda: not is_open(), _STUCK)
            except TimeoutError:
                return True
            node.thaw()
            return False

        wait_for("a batch that cannot end", is_stuck)
        node.kill()


class Scene(Background):
    """Producer and folders of one runbook. The producer writes on a separate thread.

    ```python
    with Scene(sites, folder) as scene:
        scene.create(("east", "orders"))
        scene.aim(("east", "orders"))
    ```
    """

    def __init__(self, sites: Sites, folder: Path) -> None:
        """Create the folders, without topics and targets of the producer."""
        super().__init__("producer", 0.05)
        self.sites, self._folder = sites, folder
        self._lock = threading.Lock()
        self._targets: tuple[Place, ...] = ()
        self._count = 0
        self.produced: dict[str, list[int]] = {}
        """Numbers of the produced orders by stream, the part of a topic before "-"."""
        self.times: dict[str, int] = {}
        """Milliseconds since 1970 of each order, by its id."""
        self.mirrors: dict[Place, Place] = {}
        """Mirrors by their original topics."""
        self.lags: set[Place] = set()
        """Topics whose mirrors receive no orders."""
        for name in FOLDERS:
            self.path(name).mkdir(parents=True)

    @property
    def shown(self) -> Mapping[str, str]:
        """Return the folders and addresses of this run by those of the pages.

        Intervals of the pages are shorter, so that a test takes less time.
        """
        folders = {name: f"{self.path(name)}{'/' * name.endswith('/')}" for name in FOLDERS}
        servers = {
            "east-1:9092": self.sites.east.bootstrap_servers,
            "west-1:9092": self.sites.west.bootstrap_servers,
        }
        intervals = {
            '"1s"': '"200ms"',
            '"1 second"': '"200 milliseconds"',
            "- 60_000": "- 1_000",
            # A query that plans a batch meanwhile may receive the document some seconds later.
            "+ 60_000": "+ 10_000",
        }
        return {**folders, **servers, **intervals}

    def path(self, shown: str) -> Path:
        """Return the path that replaces a path of a page."""
        return self._folder / shown.strip("/")

    def create(self, *places: Place, partitions: int = 2) -> None:
        """Create topics."""
        for cluster, topic in places:
            self.sites.topics(cluster).create(topic, partitions)

    def aim(self, *places: Place) -> None:
        """Set the topics to which the producer writes. The previous topics receive no more rows."""
        with self._lock:
            self._targets = places

    def aims(self, *places: Place) -> Callable[[], None]:
        """Return an action that sets the topics to which the producer writes."""
        return lambda: self.aim(*places)

    def work(self) -> None:
        """Write some orders to each target and its mirror."""
        with self._lock:
            for place in self._targets:
                self.produce(place, 4)

    def produce(
        self, place: Place, rows: int, partition: int | None = None, now: int | None = None
    ) -> None:
        """Write orders to a topic, or to one partition, and to its mirror.

        Args:
            place: Cluster and topic.
            rows: Number of orders.
            partition: Partition of all orders.
            now: Milliseconds since 1970 of the orders, by default the current time.
        """
        now = now or int(time.time() * 1000)
        numbers = range(self._count, self._count + rows)
        self._count += rows
        records = [record._replace(timestamp=now) for record in orders(numbers, 2)]
        if partition is not None:
            records = [record._replace(partition=partition) for record in records]
        self._write(place, records)
        mirror = self.mirrors.get(place)
        if mirror and place not in self.lags:
            self._write(mirror, records)
        self.produced.setdefault(place[1].split("-")[0], []).extend(numbers)
        self.times |= dict.fromkeys(map(order_id, numbers), now)

    def _write(self, place: Place, records: list[Record]) -> None:
        topics = self.sites.topics(place[0])
        partitions = len(topics.partitions(place[1]))
        topics.produce(place[1], [r._replace(partition=r.partition % partitions) for r in records])

    def rows(self, stream: str) -> list[dict[str, Any]]:
        """Return the rows of a stream that the query of the page has written."""
        files = SinkLog(self.path("/lake/orders")).files()
        rows = [row for file in files for row in pq.read_table(file).to_pylist()]
        return [row for row in rows if row["_stream"] == stream]

    def finish(self, *streams: str) -> None:
        """Stop the producer, wait until the streams are read, and assert that each row is once."""
        self.aim()
        for stream in streams:
            self.until_read(stream)
            assert_each_once(self._ids(stream), self.produced[stream])

    def until_read(self, stream: str) -> None:
        """Wait until each produced row of a stream is read at least once."""
        wanted = {order_id(number) for number in self.produced[stream]}
        wait_for(f"the rows of {stream}", lambda: wanted <= set(self._ids(stream)))

    def repeated(self, stream: str) -> set[str]:
        """Return the ids that the query has read more than once."""
        return {one for one, times in Counter(self._ids(stream)).items() if times > 1}

    def _ids(self, stream: str) -> list[str]:
        return [row["key"].decode() for row in self.rows(stream)]
