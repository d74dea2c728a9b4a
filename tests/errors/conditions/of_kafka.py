# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of Kafka sources, over real brokers and over planted faults."""

from __future__ import annotations

import json
import time

import pytest

from errors.conditions.world import LATE, World, closed_port, provokes
from orders import order_id, orders
from servers.kafka.node import ProcessNode
from servers.kafka.producer import Record


def offsets(topic: str, *of: int) -> str:
    """Return JSON with one offset per partition."""
    return json.dumps({topic: {str(partition): offset for partition, offset in enumerate(of)}})


@provokes("SPLICE_KAFKA_OPTION.COMMITTED_OFFSET_NOT_FOUND")
def committed(world: World) -> None:
    group = {"kafka.group.id": f"none-{time.time_ns()}", "startingOffsets": "committed"}
    world.drain(**world.real_kafka(world.topic(), **group))


@provokes("SPLICE_KAFKA_OPTION.END_BEYOND_END_OF_LOG")
def end_beyond(world: World) -> None:
    topic = world.topic()
    world.read(**world.real_kafka(topic, endingOffsets=offsets(topic, 999, 999, 999)))


@provokes("SPLICE_KAFKA_OPTION.END_NOT_SUBSCRIBED")
def end_not_subscribed(world: World) -> None:
    kept, removed = world.topic(), world.topic()
    ends = {"startingOffsets": "earliest", "endingOffsets": "latest", "maxOffsetsPerTrigger": "40"}
    first = world.real_kafka(f"{kept},{removed}", **ends)
    options = {f"first.{name}": value for name, value in first.items()}
    options |= {f"next.{name}": value for name, value in world.real_kafka(kept).items()}
    options |= {"source": "hybrid", "legs": "first,next", "next.handOver": "offsets"}
    world.start_and_stop(**options)
    world.drain(**options | {"first.subscribe": kept})


@provokes("SPLICE_KAFKA_OPTION.NO_RECORD_AT_TIME")
def no_record(world: World) -> None:
    world.read(**world.real_kafka(world.topic(), startingTimestamp=LATE))


@provokes("SPLICE_KAFKA_OPTION.OPTION_NOT_ALLOWED")
def not_allowed(world: World) -> None:
    world.read(**world.real_kafka(world.topic(), startingOffsets="latest"))


@provokes("SPLICE_KAFKA_OPTION.TOPICS_REPLACED", "'failOnDataLoss' to 'false'")
def topics_replaced(world: World) -> None:
    options = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": "40"}
    world.start_and_stop(**world.real_kafka(world.topic(), **options))
    world.drain(**world.real_kafka(world.topic(), **options))


@provokes("SPLICE_KAFKA_OPTION.PARTITIONS_DIFFER")
def partitions_differ(world: World) -> None:
    topic = world.topic()
    world.read(**world.real_kafka(topic, startingOffsets=offsets(topic, 0)))


@provokes("SPLICE_KAFKA_OPTION.PARTITION_NOT_FOUND")
def partition_not_found(world: World) -> None:
    topic = world.topic()
    options = world.real_kafka(topic, assign=json.dumps({topic: [0, 7]}))
    options.pop("subscribe")
    world.read(**options)


@provokes("SPLICE_KAFKA_OPTION.START_AFTER_END")
def start_after_end(world: World) -> None:
    topic = world.topic()
    start = {"startingOffsets": offsets(topic, 9, 9, 9), "endingOffsets": offsets(topic, 5, 9, 9)}
    world.read(**world.real_kafka(topic, **start))


@provokes("SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND", "no-such-topic", r"127\.0\.0\.1:\d+")
def topic_not_found(world: World) -> None:
    world.drain(**world.real_kafka("no-such-topic"))


@provokes("SPLICE_KAFKA_DATA.START_BEYOND_END_OF_LOG")
def start_beyond(world: World) -> None:
    topic = world.topic()
    world.drain(**world.real_kafka(topic, startingOffsets=offsets(topic, 999, 999, 999)))


@provokes("SPLICE_KAFKA_DATA.DATA_LOSS", r"-\d \[10, 20\)")
def data_loss(world: World) -> None:
    topic = world.topic()
    options = world.real_kafka(topic, startingOffsets="earliest", maxOffsetsPerTrigger="30")
    world.start_and_stop(**options)
    world.topics.delete_records(topic, {0: 20, 1: 20, 2: 20})
    world.drain(**options)


def _ahead(world: World, start: int, **options: str) -> None:
    """Run a query over a topic whose first record is two hours ahead."""
    topic = world.make_topic(1, {"message.timestamp.after.max.ms": str(2**63 - 1)})
    now = int(time.time() * 1000)
    world.topics.produce(
        topic, [Record("far", "key", 0, now + 2 * 3600 * 1000), Record("near", "key", 0, now)]
    )
    options |= {"startingOffsets": offsets(topic, start), "admission": "eventTime"}
    world.drain(**world.real_kafka(topic, **options))


@provokes("SPLICE_ADMISSION.FUTURE_TIME", "-0 has a record", "'onFutureTime' to 'hold'")
def future_time(world: World) -> None:
    _ahead(world, 0, onFutureTime="fail")


@provokes("SPLICE_ADMISSION.TIMES_NOT_ORDERED", "offset 0", "'admission' to 'lag'")
def times_not_ordered(world: World) -> None:
    _ahead(world, 1)


@provokes("SPLICE_KAFKA_DATA.INVALID_VALUE")
def invalid_value(world: World) -> None:
    topic = world.make_topic(1)
    world.topics.produce(topic, [Record("no JSON", "key", 0)])
    values = {"valueFormat": "json", "valueSchema": "amount DOUBLE"}
    world.spark.read.format("splice").options(**world.real_kafka(topic, **values)).load().collect()


@provokes("SPLICE_KAFKA_DATA.TOPIC_RECREATED")
def recreated(world: World) -> None:
    topic = world.topic()
    options = world.real_kafka(topic, startingOffsets="earliest")
    world.drain(**options)
    world.topics.delete(topic)
    world.topics.create(topic, 3)
    world.topics.produce(topic, orders(range(90), 3))
    world.drain(**options)


@provokes("SPLICE_KAFKA_DATA.TIMESTAMP_OUT_OF_RANGE")
def timestamp(world: World) -> None:
    topic = world.make_topic(1, {"message.timestamp.after.max.ms": str(2**63 - 1)})
    world.topics.produce(topic, [Record("late", "key", 0, time.time_ns())])
    rows = world.spark.read.format("splice").options(**world.real_kafka(topic)).load()
    rows.select("timestamp").collect()


@provokes("SPLICE_KAFKA_DATA.CORRUPT_RECORD")
def corrupt(world: World) -> None:
    if not isinstance(world.kafka.node, ProcessNode):
        pytest.skip("the log of a broker in a container is not a local file")
    topic = world.make_topic(1)
    world.topics.produce(topic, orders(range(3), 1))
    (log,) = world.kafka.node.data.glob(f"**/{topic}-0/*.log")
    with log.open("r+b") as file:
        file.seek(-3, 2)
        file.write(b"X")
    world.read(**world.real_kafka(topic))


@provokes("SPLICE_KAFKA_DATA.OTHER_CLUSTER")
def other_cluster(world: World) -> None:
    topic = world.topic()
    options = world.real_kafka(topic, startingOffsets="earliest")
    world.drain(**options)
    other = world.other_kafka()
    other.topics.create(topic, 3)
    other.topics.produce(topic, orders(range(90), 3))
    world.drain(**options | {"kafka.bootstrap.servers": other.bootstrap_servers})


@provokes("SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE", r"127\.0\.0\.1:\d+", "2 ?s|2000 ?ms")
def unavailable(world: World) -> None:
    dead = {"kafka.bootstrap.servers": closed_port(), "kafka.default.api.timeout.ms": "2000"}
    world.read(**world.unused_kafka(**dead))


@provokes("SPLICE_KAFKA_CONNECTION.PARTITION_UNAVAILABLE")
def partition_unavailable(world: World) -> None:
    topic = world.make_topic(1)
    with world.topics.producer(f"open-{topic}") as producer:
        producer.begin()
        producer.send_all(topic, orders(range(5), 1))
        producer.flush()
        world.topics.produce(topic, orders(range(5, 20), 1))
        # The archive lacks the records of the open transaction, so the query reads these records
        # from the log, and waits for the end of the transaction.
        rows = world.spark.createDataFrame(
            [(order_id(n), 0.0, topic, 0, n) for n in range(5, 15)],
            "order_id STRING, amount DOUBLE, topic STRING, partition INT, offset BIGINT",
        )
        rows.selectExpr("*", "TIMESTAMP '2026-01-01 00:00:00' AS event_time").write.parquet(
            world.path("archive")
        )
        live = world.real_kafka(topic, **{"kafkaConsumer.pollTimeoutMs": "2000"})
        try:
            world.drain(**world.chain(world.path("archive"), live))
        finally:
            producer.abort()
