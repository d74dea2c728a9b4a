# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes, fills, shortens and looks at topics."""

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

from servers.kafka_producer import KafkaProducer, Record
from servers.waiting import wait_for

_TIMEOUT = 30
_NO_LEADER_YET = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.FENCED_LEADER_EPOCH,
    # The client does not know a new topic, or a leader of it.
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
    """The topics of a cluster, one that tests have started or any other."""

    def __init__(self, bootstrap_servers: str) -> None:
        """Takes the servers; connects when first used."""
        self.bootstrap_servers = bootstrap_servers

    @cached_property
    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})

    def disconnect(self) -> None:
        """Closes the connections; the next call connects again.

        A client that stays connected requests metadata of each topic that it was used for, for
        example when a broker fails. Brokers that create topics automatically create a deleted one
        then.
        """
        self.__dict__.pop("_admin", None)
        # Clients that are in reference cycles are connected until they are collected.
        gc.collect()

    def cluster_id(self, timeout: float = _TIMEOUT) -> str | None:
        """Gives the id of the cluster; None if it does not answer within the timeout in seconds."""
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
        """Makes a topic and waits until all of it can be used."""
        new = NewTopic(topic, partitions, replicas, config=dict(config or {}))
        _all_done(self._admin.create_topics([new]))
        wait_for(f"the partitions of '{topic}'", lambda: self._has(topic, partitions))

    def add_partitions(self, topic: str, total: int) -> None:
        """Gives a topic more partitions and waits until they can be used."""
        _all_done(self._admin.create_partitions([NewPartitions(topic, total)]))
        wait_for(f"the partitions of '{topic}'", lambda: self._has(topic, total))

    def delete(self, topic: str) -> None:
        """Deletes a topic and waits until it is gone."""
        _all_done(self._admin.delete_topics([topic]))
        wait_for(f"'{topic}' to be gone", lambda: topic not in self.names())

    def brokers(self) -> set[int]:
        """Lists the brokers that are there; none if nobody answers."""
        try:
            return set(self._admin.list_topics(timeout=1).brokers)
        except KafkaException:
            return set()

    def leaders(self) -> set[int]:
        """Lists the brokers that lead a partition of any topic."""
        return {partition.leader for partition in self._all_partitions()}

    def are_copied(self, copies: int) -> bool:
        """Says whether every partition has so many copies that are up to date."""
        return all(len(partition.isrs) >= copies for partition in self._all_partitions())

    def prefer_leaders(self) -> None:
        """Gives partitions back to the brokers that shall lead them, where others do now."""
        self._admin.elect_leaders(ElectionType.PREFERRED).result(_TIMEOUT)

    def _all_partitions(self) -> list[Any]:
        topics = self._admin.list_topics(timeout=_TIMEOUT).topics.values()
        return [partition for topic in topics for partition in topic.partitions.values()]

    def names(self) -> set[str]:
        """Lists the topics."""
        return set(self._admin.list_topics(timeout=_TIMEOUT).topics)

    def topic_id(self, topic: str) -> str:
        """Gives the id of a topic, as brokers write it; one made anew has another."""
        # A broker that is behind does not know a new topic.
        described = wait_for(
            f"the id of '{topic}'",
            lambda: _unless(
                _NO_LEADER_YET,
                lambda: _all_done(self._admin.describe_topics(TopicCollection([topic]))),
            ),
        )
        # This client writes '+' and '/' where Kafka writes '-' and '_'.
        return str(described[0].topic_id).translate(str.maketrans("+/", "-_"))

    def partitions(self, topic: str) -> list[int]:
        """Lists the partitions of a topic."""
        return sorted(self._admin.list_topics(topic, timeout=_TIMEOUT).topics[topic].partitions)

    def delete_records(self, topic: str, before: Mapping[int, int]) -> None:
        """Deletes the records before an offset, per partition; -1 deletes all."""
        asked = [TopicPartition(topic, p, o) for p, o in before.items()]

        def delete() -> list[Any] | None:
            done = _unless(_NO_LEADER_YET, lambda: _all_done(self._admin.delete_records(asked)))
            if done is None:
                # A client sends the request to the leader that it knows, again and again.
                self.disconnect()
            return done

        wait_for(f"the leaders of '{topic}'", delete)

    def offsets(self, topic: str) -> dict[int, tuple[int, int]]:
        """Gives the first offset and the end of each partition, open transactions included."""
        # Two metadata responses may list different partitions while one is being added.
        of = [TopicPartition(topic, partition) for partition in self.partitions(topic)]
        if not of:
            # A broker that is behind lists no partition of a new topic.
            return {}
        first = self._edges(of, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
        end = self._edges(of, OffsetSpec.latest())  # type: ignore[no-untyped-call]
        return {partition: (first[partition], end[partition]) for partition in first}

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commits offsets for a consumer group."""
        consumer = self._consumer("read_committed", group)
        try:
            positions = [TopicPartition(topic, p, o) for p, o in offsets.items()]
            consumer.commit(offsets=positions, asynchronous=False)
        finally:
            consumer.close()

    def committed(self, group: str, topic: str) -> dict[int, int]:
        """Gives the offsets that a group has committed; partitions without one are left out."""
        consumer = self._consumer("read_committed", group)
        try:
            asked = [TopicPartition(topic, p) for p in self.partitions(topic)]

            def ask() -> list[TopicPartition] | None:
                return _unless(_NO_COORDINATOR_YET, lambda: consumer.committed(asked, _TIMEOUT))

            found = wait_for(f"the coordinator of '{group}'", ask)
            return {each.partition: each.offset for each in found if each.offset >= 0}
        finally:
            consumer.close()

    def set_scram_password(self, user: str, password: str) -> None:
        """Lets a user log in by SCRAM-SHA-512 with a password."""
        how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        upsert = UserScramCredentialUpsertion(user, how, password.encode())
        _all_done(self._admin.alter_user_scram_credentials([upsert]))

    def produce(self, topic: str, records: Iterable[Record]) -> int:
        """Writes records, waits until they are written, and gives their number."""
        with self.producer() as producer:
            return producer.send_all(topic, records)

    def producer(self, transactional_id: str | None = None) -> KafkaProducer:
        """Makes a producer that stays open; with an id one that writes in transactions."""
        return KafkaProducer(self.bootstrap_servers, transactional_id)

    def records(self, topic: str, isolation: str = "read_committed") -> Iterator[Message]:
        """Reads all that is there now, each partition in order."""
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
                    raise TimeoutError(f"no record of '{topic}' came, and {ends} are still ahead")
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
        asked = dict.fromkeys(of, spec)

        def ask() -> dict[int, int] | None:
            answers = {p.partition: f for p, f in self._admin.list_offsets(asked).items()}
            found = _unless(
                _NO_LEADER_YET,
                lambda: {partition: f.result(_TIMEOUT).offset for partition, f in answers.items()},
            )
            if found is None:
                # A client keeps for a while that it does not know a topic.
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
    """Gives the answer; None if it is one of these errors."""
    try:
        return ask()
    except KafkaException as error:
        if error.args[0].code() not in codes:
            raise
        return None


def _all_done(futures: Mapping[Any, Future[Any]]) -> list[Any]:
    return [future.result(_TIMEOUT) for future in futures.values()]
