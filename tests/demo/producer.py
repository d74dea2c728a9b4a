# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Process that sends orders at a steady rate until a file exists.

Then the process waits until all orders are written, and prints the number of the next order.
Every order with a lower number is in the topic once.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

_TESTS = str(Path(__file__).resolve().parents[1])
sys.path[:0] = [] if _TESTS in sys.path else [_TESTS]

from demo import orders  # noqa: E402
from servers.kafka.topics import KafkaTopics  # noqa: E402
from servers.process import ServerProcess  # noqa: E402

_TICK = 0.05


class LiveOrders:
    """Handle of the process."""

    def __init__(self, servers: str, topic: str, first: int, rate: int, folder: Path) -> None:
        """Start the process with the number of its first order and the orders per second."""
        self._stop = folder / "stop-producing"
        arguments = [servers, topic, str(self._stop), "--first", str(first), "--rate", str(rate)]
        self._process = ServerProcess(
            [sys.executable, __file__, *arguments], folder / "producer.log"
        )

    def check(self) -> None:
        """Raise an error if the process has ended."""
        if self._process.exit_code is not None:
            raise RuntimeError(f"the producer has ended:\n{self._process.tail()}")

    def finish(self) -> int:
        """Stop the process, and return the number of the next order."""
        self._stop.touch()
        if self._process.wait(120):
            raise RuntimeError(f"the producer has failed:\n{self._process.tail()}")
        return int(self._process.tail(1))


def main() -> None:
    """Send orders until the file exists."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers")
    parser.add_argument("topic")
    parser.add_argument("stop", type=Path, help="file that ends the process")
    parser.add_argument("--first", type=int, required=True, help="number of the first order")
    parser.add_argument("--rate", type=int, required=True, help="orders per second")
    given = parser.parse_args()
    began, number = time.monotonic(), given.first
    with KafkaTopics(given.servers).producer() as producer:
        while not given.stop.exists():
            due = given.first + int((time.monotonic() - began) * given.rate)
            for each in range(number, due):
                producer.send(given.topic, orders.record(each))
            number = due
            time.sleep(_TICK)
    print(number, flush=True)


if __name__ == "__main__":
    main()
