# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Fast producer of Kafka records, to partitions and in transactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from servers.waiting import PATIENCE

_FULL_QUEUE_WAIT = 0.5


class Record(NamedTuple):
    """Record to write. Without a partition, the client selects the partition."""

    value: bytes | str | None
    key: bytes | str | None = None
    partition: int = -1
    timestamp: int = 0
    """Milliseconds since 1970. The value 0 is the current time."""
    headers: Sequence[tuple[str, bytes]] = ()


class KafkaProducer:
    """Producer, which waits at the end of a ``with`` block until all is written."""

    def __init__(
        self, bootstrap_servers: str, transactional_id: str | None = None, idempotent: bool = True
    ) -> None:
        """Create a producer. With a transactional id, it writes in transactions only.

        Topics with an old message format need a producer that is not idempotent.
        """
        self._errors: list[KafkaError] = []
        settings: dict[str, object] = {
            "bootstrap.servers": bootstrap_servers,
            "enable.idempotence": idempotent,
            "linger.ms": 5,
            "batch.size": 262144,
            "queue.buffering.max.messages": 200000,
            "delivery.report.only.error": True,
            "on_delivery": self._delivered,
            "log_level": 0,
        }
        if transactional_id is not None:
            settings["transactional.id"] = transactional_id
        self._producer = Producer(settings)
        if transactional_id is not None:
            self._producer.init_transactions(30)

    def __enter__(self) -> KafkaProducer:
        """Return the producer."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait until all records are written, or drop unwritten records after an error."""
        if kind is None:
            self.flush()
        else:
            self._producer.purge()

    def send(self, topic: str, record: Record) -> None:
        """Queue a record. The call waits only while the queue is full."""
        value, key, partition, timestamp, headers = record
        while True:
            try:
                self._producer.produce(
                    topic,
                    value,
                    key,
                    partition,
                    timestamp=timestamp,
                    headers=list(headers),
                )
                return
            except BufferError:
                self._producer.poll(_FULL_QUEUE_WAIT)

    def send_all(self, topic: str, records: Iterable[Record]) -> int:
        """Queue records, wait until they are written, and return their number."""
        count = 0
        for record in records:
            self.send(topic, record)
            count += 1
        self.flush()
        return count

    def flush(self, timeout: float = PATIENCE) -> None:
        """Wait until all queued records are written.

        Raises:
            KafkaException: if a record could not be written.
            TimeoutError: if records are still queued after the timeout in seconds.
        """
        left = self._producer.flush(timeout)
        if self._errors:
            raise KafkaException(self._errors[0])
        if left:
            raise TimeoutError(f"{left} records were not written within {timeout} s")

    def begin(self) -> None:
        """Open a transaction."""
        self._producer.begin_transaction()

    def commit(self) -> None:
        """Commit the open transaction."""
        self._producer.commit_transaction(30)

    def abort(self) -> None:
        """Abort the open transaction."""
        self._producer.abort_transaction(30)

    def _delivered(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._errors.append(error)
