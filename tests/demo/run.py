# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Demo of one stream over a history and a live topic, whose driver is killed three times.

The demo produces orders, archives a part of the orders as Parquet, and continues to produce. One
query reads the history and the topic, and writes to a Parquet sink. The driver is killed (SIGKILL)
in the history, at the switch and in the live leg. Finally the demo compares the ids in the sink
with the produced ids.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from demo import archive, orders
from demo.checkpoint import Checkpoint
from demo.judge import SinkLog, Verdict, judge
from demo.life import Driver, Moment, moments, wait_for
from demo.producer import LiveOrders
from demo.telling import Teller
from servers.kafka.cluster import KafkaCluster
from servers.kafka.topics import KafkaTopics

_FILES = 24
_FILES_A_BATCH = 3
_ARCHIVED = 0.6
_PATIENCE = 300


class Demo:
    """One run of the demo in one folder with one topic."""

    def __init__(self, rows: int, topics: KafkaTopics, topic: str, folder: Path) -> None:
        """Create a run, without starting it."""
        self._rows, self._topics, self._topic, self._folder = rows, topics, topic, folder
        self._checkpoint = Checkpoint(folder / "checkpoint")
        self._sink = SinkLog(folder / "sink")
        self._tell = Teller()

    def run(self) -> Verdict:
        """Run the demo to its end."""
        self._make_history()
        live = LiveOrders(
            self._topics.bootstrap_servers,
            self._topic,
            first=self._rows,
            rate=max(self._rows // 1000, 20),
            folder=self._folder,
        )
        while not all(self._live_until(moment, live) for moment in moments(self._checkpoint)):
            self._tell.say("the driver was killed too late for the moment; starting again")
            for part in ("checkpoint", "sink"):
                shutil.rmtree(self._folder / part)
            self._sink = SinkLog(self._folder / "sink")
        produced = self._last_life(live)
        self._tell_of_the_switch()
        self._tell.say(
            f"{self._rows} orders were produced first, {produced - self._rows} while the query ran"
        )
        return judge(self._sink.files(), produced)

    def _make_history(self) -> None:
        self._topics.create(self._topic, orders.PARTITIONS, orders.KEPT)
        self._tell.say(f"producing {self._rows} orders to topic {self._topic}")
        self._topics.produce(self._topic, map(orders.record, range(self._rows)))
        sizes = {p: end for p, (_, end) in self._topics.offsets(self._topic).items()}
        ends = archive.uneven_ends(sizes, _ARCHIVED)
        self._tell.say(f"archiving {sum(ends.values())} of them as Parquet")
        archive.archive(self._topics, self._topic, ends, self._folder / "history", _FILES)

    def _live_until(self, moment: Moment, live: LiveOrders) -> bool:
        """Kill the driver at a moment; return False if the moment is over."""
        driver = self._start()

        def check() -> None:
            driver.check()
            live.check()

        wait_for(moment, check, lambda: self._tell_of(driver), _PATIENCE)
        driver.kill()
        if not moment.holds():
            return not moment.is_over() and self._live_until(moment, live)
        batch = self._checkpoint.planned()
        committed = self._checkpoint.committed()
        self._tell.say(
            f"killed the driver {moment.name} (SIGKILL): "
            f"batch {batch} was planned last, batch {committed} committed last"
        )
        return True

    def _last_life(self, live: LiveOrders) -> int:
        driver = self._start()
        resumed = self._checkpoint.planned()
        while self._checkpoint.committed() <= resumed:
            self._pause(driver)
        produced = live.finish()
        self._tell.say(
            f"the producer has stopped after order {produced - 1}; reading the remaining orders"
        )
        ends = {str(p): end for p, (_, end) in self._topics.offsets(self._topic).items()}
        while not self._has_read(ends):
            self._pause(driver)
        driver.finish()
        return produced

    def _has_read(self, ends: dict[str, int]) -> bool:
        at = self._checkpoint.position(self._checkpoint.committed())
        return at.leg == "live" and at.legs["live"][self._topic] == ends

    def _start(self) -> Driver:
        self._tell.say("starting the driver")
        return Driver(
            self._folder,
            self._topics.bootstrap_servers,
            self._topic,
            files=_FILES_A_BATCH,
            records=max(self._rows // 10, 100),
        )

    def _pause(self, driver: Driver) -> None:
        time.sleep(1.5)
        driver.check()
        self._tell_of(driver)

    def _tell_of(self, driver: Driver) -> None:
        self._tell.progress(self._sink.rows(), driver.report())

    def _tell_of_the_switch(self) -> None:
        last = archive.last_offsets(self._folder / "history")
        first = self._checkpoint.switch().start[self._topic]
        self._tell.switch(self._topic, last, {int(p): offset for p, offset in first.items()})


@contextlib.contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="splice-demo-"))
    try:
        yield folder
    finally:
        if keep:
            print(f"kept: {folder}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _topics(servers: str | None) -> Iterator[KafkaTopics]:
    if servers:
        yield KafkaTopics(servers)
        return
    print("starting a Kafka broker", flush=True)
    with KafkaCluster() as cluster:
        yield cluster.topics


@contextlib.contextmanager
def _topic(topics: KafkaTopics, drop: bool) -> Iterator[str]:
    name = f"splice-demo-{uuid.uuid4().hex[:8]}"
    try:
        yield name
    finally:
        if drop and name in topics.names():
            topics.delete(name)


def _exit(number: int, _frame: object) -> None:
    sys.exit(128 + number)


def main() -> int:
    """Run the demo. The result is 0 if the sink has each row once."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--rows", type=int, default=1_000_000, help="orders to produce before the query starts"
    )
    parser.add_argument("--servers", help="an existing broker, host:port")
    parser.add_argument("--keep", action="store_true", help="keep the files and print their folder")
    given = parser.parse_args()
    if given.rows < 10_000:
        parser.error("--rows: give at least 10000, or there is nothing to kill in")
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, _exit)
    try:
        # The folder is removed last, because processes write to it until their end.
        with (
            _folder(given.keep) as folder,
            _topics(given.servers) as topics,
            _topic(topics, drop=bool(given.servers) and not given.keep) as topic,
        ):
            verdict = Demo(given.rows, topics, topic, folder).run()
    except KeyboardInterrupt:
        return 130
    print(verdict)
    return 0 if verdict.holds else 1


if __name__ == "__main__":
    sys.exit(main())
