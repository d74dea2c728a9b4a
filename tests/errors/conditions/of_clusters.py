# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of sources of many clusters, and of their metadata."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from errors.conditions.world import UNUSED, World, closed_port, provokes
from orders import orders
from servers.waiting import PATIENCE, wait_for
from splice import DynamicKafkaSource
from streams import drain, start

DEAD = {"clusterTimeout": "2s", "clusterWait": "1s", "kafka.default.api.timeout.ms": "1000"}
"""Options with which a dead cluster is soon an error."""


def other(servers: str, **more: object) -> dict[str, object]:
    """Return a cluster of a document."""
    return {"bootstrapServers": servers} | more


def clusters(world: World, **others: object) -> dict[str, object]:
    """Return the clusters of a document: the brokers of the tests, and others."""
    return {"east": other(world.kafka.bootstrap_servers)} | others


@provokes("SPLICE_DYNAMIC_KAFKA.AMBIGUOUS_HAND_OVER")
def ambiguous_hand_over(world: World) -> None:
    topic = world.topic()
    places = {"orders": {"east": [topic], "west": [topic]}}
    west = world.other_kafka()
    west.topics.create(topic, 3)
    both = clusters(world, west=other(west.bootstrap_servers))
    dynamic = world.document(places, clusters=both)
    dynamic.pop("startingOffsets")
    world.drain(**world.chain(world.archived(topic), dynamic))


@provokes("SPLICE_KAFKA_OPTION.HAND_OVER_NOT_SUPPORTED")
def hand_over_not_supported(world: World) -> None:
    topic = world.topic(3)
    places = {"orders": {"east": [topic], "west": [topic]}}
    west = world.other_kafka()
    west.topics.create(topic, 3)
    both = clusters(world, west=other(west.bootstrap_servers))
    first = world.document(places, clusters=both) | {"endingOffsets": "latest"}
    legs = {"first": first, "next": world.real_kafka(topic) | {"handOver": "offsets"}}
    options = {f"{leg}.{key}": value for leg, own in legs.items() for key, value in own.items()}
    options |= {f"{leg}.select": "CAST(key AS STRING) AS order_id" for leg in legs}
    world.drain(source="hybrid", legs="first,next", **options)


@provokes("SPLICE_DYNAMIC_KAFKA.CLUSTER_INACTIVE")
def inactive(world: World) -> None:
    topic = world.topic()
    places = {"orders": {"east": [topic], "west": [f"{topic}-west"]}}
    away = other(UNUSED, active=False)
    dynamic = world.document(places, clusters=clusters(world, west=away)) | DEAD
    dynamic.pop("startingOffsets")
    world.drain(**world.chain(world.archived(topic), dynamic))


@provokes("SPLICE_DYNAMIC_KAFKA.TAKEOVER_NOT_SUPPORTED")
def takeover(world: World) -> None:
    topic = world.topic()
    world.drain(**world.real_kafka(topic, startingOffsets="earliest"))
    places = {"orders": {"east": [topic], "west": [topic]}}
    world.drain(
        **world.document(places, clusters=clusters(world, west=other(closed_port()))) | DEAD
    )


@provokes("SPLICE_DYNAMIC_KAFKA.TOPIC_REMOVED")
def topic_removed(world: World) -> None:
    kept, removed = world.topic(), world.topic()
    policy = {"onRemoved": "fail"}
    world.drain(**world.document({"orders": {"east": [kept, removed]}}) | policy)
    world.drain(**world.document({"orders": {"east": [kept]}}, generation=2) | policy)


@provokes("SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE")
def cluster_unavailable(world: World) -> None:
    topic = world.topic()
    places = {"orders": {"east": [topic], "west": [f"{topic}-west"]}}
    world.drain(
        **world.document(places, clusters=clusters(world, west=other(closed_port()))) | DEAD
    )


@provokes("SPLICE_METADATA.AMBIGUOUS_CLUSTER_NAME")
def ambiguous_name(world: World) -> None:
    topic = world.topic()
    options = world.document({"orders": {"east": [topic], "East": [topic]}})
    world.drain(**options | {"cluster.east.kafka.client.id": "me"})


@provokes("SPLICE_METADATA.DUPLICATE_CLUSTER")
def duplicate_cluster(world: World) -> None:
    topic = world.topic()
    world.drain(**world.document({"orders": {"east": [topic], "west": [topic]}}))


@provokes("SPLICE_METADATA.STREAM_NOT_FOUND")
def stream_not_found(world: World) -> None:
    options = world.document({"returns": {"east": [world.topic()]}})
    world.drain(**options)


@provokes("SPLICE_METADATA.TOPIC_IN_SEVERAL_STREAMS")
def several_streams(world: World) -> None:
    topic = world.topic()
    places = {"orders": {"east": [topic]}, "returns": {"east": [topic]}}
    world.drain(**world.document(places) | {"streams": "orders,returns"})


@provokes("SPLICE_METADATA.VERSION_NOT_SUPPORTED")
def version(world: World) -> None:
    world.drain(**world.document({"orders": {"east": [world.topic()]}}, version=99))


@provokes("SPLICE_METADATA.INVALID_DOCUMENT")
def invalid_document(world: World) -> None:
    options = world.document({"orders": {"east": [world.topic()]}})
    world.write("streams.json", "version: 1\nstreams: 12\n")
    world.drain(**options)


@provokes("SPLICE_METADATA_CONNECTION.START_TIMEOUT_EXCEEDED")
def start_timeout(world: World) -> None:
    ended = threading.Event()

    def hang() -> dict[str, Any]:
        ended.wait(60)
        return {}

    limits = {"clusterTimeout": "2s", "metadata.timeout": "1s"}
    builder = DynamicKafkaSource.builder().streams("orders").metadata_service(hang)
    try:
        drain(builder.options(limits).build().read_stream(world.spark), world.folder)
    finally:
        ended.set()


@provokes("SPLICE_METADATA_CONNECTION.SERVICE_UNAVAILABLE")
def service_unavailable(world: World) -> None:
    options = world.document({"orders": {"east": [world.topic()]}})
    world.drain(**options | {"metadata.file": world.path("none.json"), "clusterTimeout": "2s"})


@provokes("SPLICE_METADATA_CONNECTION.FAILURE_TIMEOUT_EXCEEDED")
def failure_timeout(world: World) -> None:
    options = world.document({"orders": {"east": [world.topic()]}})
    options |= {"metadata.failureTimeout": "1s", "discoveryInterval": "200ms"}
    rows = world.spark.readStream.format("splice").options(**options).load()
    query = start(rows, world.folder)
    try:
        wait_for("the first batch", lambda: query.lastProgress is not None)
        Path(options["metadata.file"]).unlink()
        query.awaitTermination(PATIENCE)
    finally:
        query.stop()


def rejected(
    world: World, generation: int, kept: int, added: Sequence[str] = (), **change: object
) -> str:
    """Publish a document that a running query rejects, and return the reason in the progress.

    Args:
        world: The world of the case.
        generation: Generation of the document; the first document has generation 5.
        kept: Number of topics of the first document, 3, that the document contains.
        added: Further topics of the document.
        change: Further keys of the document.
    """
    topics = [world.topic(3) for _ in range(3)]
    options = world.document({"orders": {"east": topics}}, generation=5)
    options |= {"discoveryInterval": "200ms"}
    query = start(world.spark.readStream.format("splice").options(**options).load(), world.folder)

    def reason() -> str | None:
        # A batch without rows updates the progress only after several seconds.
        world.topics.produce(topics[0], orders(range(1), 1))
        progress = query.lastProgress
        found = progress["sources"][0]["metrics"].get("waitingGroups", "") if progress else ""
        return found if "rejected" in found else None

    try:
        wait_for("the first batch", lambda: query.lastProgress is not None)
        streams = {"orders": {"east": [*topics[:kept], *added]}} if kept else {}
        world.document(streams, generation, **change)
        return wait_for("the rejection", reason)
    finally:
        query.stop()


@provokes("SPLICE_METADATA.CUTOVER_REJECTED")
def cutover_rejected(world: World) -> str:
    passed = {"orders": {"timestamp": "2020-01-01T00:00:00Z"}}
    return rejected(world, 6, 2, [world.topic(3)], cutovers=passed)


@provokes("SPLICE_METADATA.EMPTY_DOCUMENT")
def empty_document(world: World) -> str:
    return rejected(world, 6, 0, clusters=clusters(world))


@provokes("SPLICE_METADATA.REMOVAL_LIMIT_EXCEEDED")
def removal_limit(world: World) -> str:
    return rejected(world, 6, 1)


@provokes("SPLICE_METADATA.STALE_GENERATION")
def stale_generation(world: World) -> str:
    return rejected(world, 3, 2)
