# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that both sources use in turns."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from compat.pair import OURS, SPARKS, Pair, contents, offsets, records
from conftest import MakeTopic
from orders import history, live
from refusals import assert_says
from servers.kafka.topics import KafkaTopics
from streams import drain, written

EARLIEST = {"startingOffsets": "earliest"}


@pytest.fixture
def topic(topics: KafkaTopics, make_topic: MakeTopic) -> str:
    """Create a topic with one partition and 4 records."""
    name = make_topic(1)
    topics.produce(name, records(0, range(4)))
    return name


def go_on(pair: Pair, source: str, topic: str, **options: str) -> list[tuple[int, int]]:
    """Run a source with the checkpoint of the test, and return the positions of all rows so far."""
    drain(pair.stream(source, {"subscribe": topic, **EARLIEST, **options}), pair.folder / "one")
    return offsets(contents(written(pair.spark, pair.folder / "one")))


def side_log(pair: Pair) -> Path:
    """Return the folder of the side log of Splice."""
    return pair.folder / "one" / "checkpoint" / "sources" / "0" / "splice"


def all_of(count: int) -> list[tuple[int, int]]:
    """Return the positions of one partition."""
    return [(0, offset) for offset in range(count)]


def test_a_checkpoint_without_side_log_is_taken_over_again(pair: Pair, topic: str) -> None:
    assert go_on(pair, OURS, topic) == all_of(4)
    pair.topics.produce(topic, records(0, range(4, 6)))
    assert go_on(pair, SPARKS, topic) == all_of(6)
    shutil.rmtree(side_log(pair))
    pair.topics.produce(topic, records(0, range(6, 9)))
    assert go_on(pair, OURS, topic) == all_of(9)


def test_no_empty_batch_follows_a_change_of_source(pair: Pair, make_topic: MakeTopic) -> None:
    topics = [make_topic(2) for _ in range(6)]
    for name in topics:
        pair.topics.produce(name, [*records(0, range(2)), *records(1, range(3))])
    many = ",".join(topics)
    for rows, first in enumerate((SPARKS, OURS)):
        for turn, side in enumerate((first, OURS, SPARKS, SPARKS, OURS, OURS)):
            assert len(go_on(pair, side, many)) == 30 + rows, (first, turn, side)
            assert len(texts(pair)) == 1 + rows, (first, turn, side)
        pair.topics.produce(topics[2], records(1, [3 + rows]))
    written_by = []
    for side in (SPARKS, OURS):
        go_on(pair, side, many)
        pair.topics.produce(topics[4], records(0, [2]))
        written_by.append(texts(pair)[-1])
    # Only the offset of one partition differs, so the order of topics does not.
    assert written_by[1] != written_by[0]
    assert list(json.loads(written_by[1])) == list(json.loads(written_by[0]))


def texts(pair: Pair) -> list[str]:
    """Return the texts of the logged offsets."""
    logged = (pair.folder / "one" / "checkpoint" / "offsets").glob("[0-9]*")
    in_order = sorted(logged, key=lambda file: int(file.name))
    return [file.read_text().splitlines()[-1] for file in in_order]


def test_a_topic_recreated_while_sparks_source_ran(pair: Pair, topic: str) -> None:
    go_on(pair, OURS, topic)
    pair.topics.delete(topic)
    pair.topics.create(topic)
    pair.topics.produce(topic, records(0, range(6)))
    # Spark's source does not detect the new topic, and skips the records before the old offset.
    assert len(go_on(pair, SPARKS, topic)) == 6
    message = _failure(pair, topic)
    assert_says(message, "SPLICE_KAFKA_DATA.TOPIC_RECREATED", topic)
    # The guide recommends deletion of the side log if the offsets belong to the new topic.
    shutil.rmtree(side_log(pair))
    pair.topics.produce(topic, records(0, range(6, 8)))
    assert len(go_on(pair, OURS, topic)) == 8


def test_a_checkpoint_of_another_kind(pair: Pair, topic: str, tmp_path: Path) -> None:
    folder = pair.folder / "one"
    drain(pair.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load(), folder)
    assert_says(
        _failure(pair, topic), "SPLICE_CHECKPOINT.OTHER_SOURCE", "offset", "Another source created"
    )
    shutil.rmtree(folder)
    pair.batch(SPARKS, {"subscribe": topic}).select("value").write.parquet(str(tmp_path / "files"))
    drain(history(tmp_path / "files").read_stream(pair.spark), folder)
    message = _failure(pair, topic)
    assert_says(
        message, "SPLICE_CHECKPOINT.SOURCE_CHANGED", "source was 'files' and is 'kafka' now"
    )
    shutil.rmtree(folder)
    drain(live(pair.topics, topic, **EARLIEST).read_stream(pair.spark), folder)
    with pytest.raises(Exception, match="source was 'kafka' and is 'files' now"):
        drain(history(tmp_path / "files").read_stream(pair.spark), folder)


def test_a_first_batch_of_another_kind(pair: Pair, topic: str) -> None:
    first = pair.folder / "one" / "checkpoint" / "sources" / "0" / "0"
    first.parent.mkdir(parents=True)
    first.write_text("v1\n1767225600000")
    message = _failure(pair, topic)
    assert_says(message, "SPLICE_CHECKPOINT.OTHER_SOURCE", "sources/0/0", "Spark's Kafka source")


def _failure(pair: Pair, topic: str) -> str:
    with pytest.raises(Exception) as raised:  # noqa: PT011
        go_on(pair, OURS, topic)
    return str(raised.value)
