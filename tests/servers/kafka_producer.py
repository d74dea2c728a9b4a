# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes records to Kafka, fast, to given partitions and in transactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

_FULL_QUEUE_WAIT = 0.5


class Record(NamedTuple):
    """A record to be written; without a partition its key, or chance, decides."""

    value: bytes | str | None
    key: bytes | str | None = None
    partition: int = -1
    timestamp: int = 0
    """Milliseconds since 1970; 0 means now."""
    headers: Sequence[tuple[str, bytes]] = ()


class KafkaProducer:
    """An idempotent producer; leaving it waits until all is written."""

    def __init__(self, bootstrap_servers: str, transactional_id: str | None = None) -> None:
        """Connects; with a transactional id it writes in transactions only."""
        self._errors: list[KafkaError] = []
        settings: dict[str, object] = {
            "bootstrap.servers": bootstrap_servers,
            "enable.idempotence": True,
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
        """Gives itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Waits until all is written; after an error, drops what is not."""
        if kind is None:
            self.flush()
        else:
            self._producer.purge()

    def send(self, topic: str, record: Record) -> None:
        """Queues a record; waits only while the queue is full."""
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
        """Queues records, waits until they are written, and gives their number."""
        count = 0
        for record in records:
            self.send(topic, record)
            count += 1
        self.flush()
        return count

    def flush(self, timeout: float = 60) -> None:
        """Waits until all that was queued is written.

        Raises:
            KafkaException: if a record could not be written.
            TimeoutError: if some are still queued after the timeout in seconds.
        """
        left = self._producer.flush(timeout)
        if self._errors:
            raise KafkaException(self._errors[0])
        if left:
            raise TimeoutError(f"{left} records were not written within {timeout} s")

    def begin(self) -> None:
        """Opens a transaction."""
        self._producer.begin_transaction()

    def commit(self) -> None:
        """Commits the open transaction."""
        self._producer.commit_transaction(30)

    def abort(self) -> None:
        """Aborts the open transaction."""
        self._producer.abort_transaction(30)

    def _delivered(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._errors.append(error)
