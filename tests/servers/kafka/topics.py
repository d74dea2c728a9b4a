# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Topics of a Kafka cluster."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future
from functools import cached_property
from typing import Any, TypeVar

from confluent_kafka import (
    Consumer,
    ElectionType,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from servers.kafka.producer import KafkaProducer, Record
from servers.waiting import wait_for

_TIMEOUT = 30
_NO_LEADER_YET = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.FENCED_LEADER_EPOCH,
    # A new leader without the previous high watermark (KIP-207).
    KafkaError.OFFSET_NOT_AVAILABLE,
    # The client has no metadata of a new topic, or no leader.
    KafkaError._NOENT,
    KafkaError._UNKNOWN_PARTITION,
)
_NO_COORDINATOR_YET = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
)

T = TypeVar("T")


class KafkaTopics:
    """Topics of any Kafka cluster."""

    def __init__(self, bootstrap_servers: str) -> None:
        """Create an instance, which connects at its first use."""
        self.bootstrap_servers = bootstrap_servers
        self.defaults: dict[str, str] = {}
        """Settings of each new topic."""

    @cached_property
    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})

    def disconnect(self) -> None:
        """Close the connections. The next call connects again.

        A connected client requests metadata of each topic of its calls, for example when a broker
        fails. Brokers with automatic creation of topics then create a deleted topic again.
        """
        self.__dict__.pop("_admin", None)
        # Clients in reference cycles stay connected until the collector frees the clients.
        gc.collect()

    def cluster_id(self, timeout: float = _TIMEOUT) -> str | None:
        """Return the id of the cluster; None if no broker responds within `timeout` seconds."""
        try:
            found: str | None = self._admin.list_topics(timeout=timeout).cluster_id
        except KafkaException:
            return None
        return found

    def create(
        self,
        topic: str,
        partitions: int = 1,
        config: Mapping[str, str] | None = None,
        replicas: int = 1,
    ) -> None:
        """Create a topic and wait until all partitions have a leader."""
        new = NewTopic(topic, partitions, replicas, config=self.defaults | dict(config or {}))
        _all_done(self._admin.create_topics([new]))
        wait_for(f"the partitions of '{topic}'", lambda: self._has(topic, partitions))

    def add_partitions(self, topic: str, total: int) -> None:
        """Add partitions to a topic and wait until they have a leader."""
        _all_done(self._admin.create_partitions([NewPartitions(topic, total)]))
        wait_for(f"the partitions of '{topic}'", lambda: self._has(topic, total))

    def delete(self, topic: str) -> None:
        """Delete a topic and wait until the topic no longer exists."""
        _all_done(self._admin.delete_topics([topic]))
        wait_for(f"'{topic}' to be deleted", lambda: topic not in self.names())

    def brokers(self) -> set[int]:
        """Return the available brokers; an empty set without a response."""
        try:
            return set(self._admin.list_topics(timeout=1).brokers)
        except KafkaException:
            return set()

    def leaders(self) -> set[int]:
        """Return the brokers that lead a partition of any topic."""
        return {partition.leader for partition in self._all_partitions()}

    def are_copied(self, copies: int) -> bool:
        """Return True if every partition has this number of replicas in sync."""
        return all(len(partition.isrs) >= copies for partition in self._all_partitions())

    def prefer_leaders(self) -> None:
        """Elect the preferred leaders of all partitions."""
        self._admin.elect_leaders(ElectionType.PREFERRED).result(_TIMEOUT)

    def _all_partitions(self) -> list[Any]:
        topics = self._admin.list_topics(timeout=_TIMEOUT).topics.values()
        return [partition for topic in topics for partition in topic.partitions.values()]

    def names(self) -> set[str]:
        """Return the names of the topics."""
        return set(self._admin.list_topics(timeout=_TIMEOUT).topics)

    def topic_id(self, topic: str) -> str:
        """Return the id of a topic in the brokers' format. A recreated topic has another id.

        Brokers before 2.8 have no ids. The result is then the name of the topic.
        """
        # An outdated broker does not have a new topic yet.
        described = wait_for(
            f"the id of '{topic}'",
            lambda: _unless(
                _NO_LEADER_YET,
                lambda: _all_done(self._admin.describe_topics(TopicCollection([topic]))),
            ),
        )
        # This client writes '+' and '/' where Kafka writes '-' and '_'.
        found = str(described[0].topic_id).translate(str.maketrans("+/", "-_"))
        return topic if found.strip("A=") == "" else found

    def partitions(self, topic: str) -> list[int]:
        """Return the partitions of a topic."""
        return sorted(self._admin.list_topics(topic, timeout=_TIMEOUT).topics[topic].partitions)

    def delete_records(self, topic: str, before: Mapping[int, int]) -> None:
        """Delete the records before an offset, per partition. The offset -1 deletes all records."""
        positions = [TopicPartition(topic, p, o) for p, o in before.items()]

        def delete() -> list[Any] | None:
            done = _unless(_NO_LEADER_YET, lambda: _all_done(self._admin.delete_records(positions)))
            if done is None:
                # A client repeats the request to the leader in its metadata.
                self.disconnect()
            return done

        wait_for(f"the leaders of '{topic}'", delete)

    def offsets(self, topic: str) -> dict[int, tuple[int, int]]:
        """Return the first offset and the end of each partition, including open transactions."""
        # Two metadata responses may list different partitions while one is being added.
        of = [TopicPartition(topic, partition) for partition in self.partitions(topic)]
        if not of:
            # An outdated broker lists no partition of a new topic.
            return {}
        first = self._edges(of, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
        end = self._edges(of, OffsetSpec.latest())  # type: ignore[no-untyped-call]
        return {partition: (first[partition], end[partition]) for partition in first}

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets for a consumer group."""
        consumer = self._consumer("read_committed", group)
        try:
            positions = [TopicPartition(topic, p, o) for p, o in offsets.items()]
            consumer.commit(offsets=positions, asynchronous=False)
        finally:
            consumer.close()

    def committed(self, group: str, topic: str) -> dict[int, int]:
        """Return the committed offsets of a group, for partitions with a committed offset."""
        consumer = self._consumer("read_committed", group)
        try:
            positions = [TopicPartition(topic, p) for p in self.partitions(topic)]

            def ask() -> list[TopicPartition] | None:
                return _unless(_NO_COORDINATOR_YET, lambda: consumer.committed(positions, _TIMEOUT))

            found = wait_for(f"the coordinator of '{group}'", ask)
            return {each.partition: each.offset for each in found if each.offset >= 0}
        finally:
            consumer.close()

    def set_scram_password(self, user: str, password: str) -> None:
        """Set the password of a user for SCRAM-SHA-512."""
        how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        upsert = UserScramCredentialUpsertion(user, how, password.encode())
        _all_done(self._admin.alter_user_scram_credentials([upsert]))

    def produce(self, topic: str, records: Iterable[Record]) -> int:
        """Write records, wait until they are written, and return their number."""
        with self.producer() as producer:
            return producer.send_all(topic, records)

    def producer(self, transactional_id: str | None = None) -> KafkaProducer:
        """Return a producer that stays open. With an id, it writes in transactions."""
        is_old = "message.format.version" in self.defaults
        return KafkaProducer(self.bootstrap_servers, transactional_id, idempotent=not is_old)

    def records(self, topic: str, isolation: str = "read_committed") -> Iterator[Message]:
        """Return all available records, in the order of each partition."""
        consumer = self._consumer(isolation)
        try:
            ends = {p: end for p, (first, end) in self.offsets(topic).items() if end > first}
            consumer.assign([TopicPartition(topic, p, 0) for p in ends])
            last = time.monotonic()
            while ends:
                messages = consumer.consume(10000, timeout=0.2)
                if messages:
                    last = time.monotonic()
                elif time.monotonic() - last > _TIMEOUT:
                    raise TimeoutError(
                        f"no record of '{topic}' arrived, and the ends {ends} are not reached"
                    )
                yield from (message for message in messages if not message.error())
                positions = consumer.position([TopicPartition(topic, p) for p in ends])
                for at in positions:
                    if at.offset >= ends[at.partition]:
                        del ends[at.partition]
        finally:
            consumer.close()

    def _has(self, topic: str, partitions: int) -> bool:
        found = self._admin.list_topics(topic, timeout=_TIMEOUT).topics[topic].partitions
        ready = len(found) == partitions and all(p.leader >= 0 for p in found.values())
        return ready and len(self.offsets(topic)) == partitions

    def _edges(self, of: list[TopicPartition], spec: OffsetSpec) -> dict[int, int]:
        requests = dict.fromkeys(of, spec)

        def ask() -> dict[int, int] | None:
            answers = {p.partition: f for p, f in self._admin.list_offsets(requests).items()}
            found = _unless(
                _NO_LEADER_YET,
                lambda: {partition: f.result(_TIMEOUT).offset for partition, f in answers.items()},
            )
            if found is None:
                # A client caches the absence of a topic for some time.
                self.disconnect()
            return found

        return wait_for(f"leaders of the partitions of {of[0].topic}", ask)

    def _consumer(self, isolation: str, group: str = "splice-tests") -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self.bootstrap_servers,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": isolation,
                "log_level": 0,
            }
        )


def _unless(codes: Collection[int], ask: Callable[[], T]) -> T | None:
    """Return the response; None if the call fails with one of these errors."""
    try:
        return ask()
    except KafkaException as error:
        if error.args[0].code() not in codes:
            raise
        return None


def _all_done(futures: Mapping[Any, Future[Any]]) -> list[Any]:
    return [future.result(_TIMEOUT) for future in futures.values()]
