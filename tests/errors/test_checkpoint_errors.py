# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Errors of queries that cannot resume on a checkpoint."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from pyspark.sql import SparkSession

from orders import HISTORY_SELECT, LIVE_SELECT, history, history_then_live, live
from refusals import assert_says, failure
from servers.kafka.topics import KafkaTopics
from splice import HandOver, HybridSource
from streams import drain, written


def test_a_changed_chain_is_rejected_and_other_changes_read_no_row_again(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    first, then = history(history_path), live(topics, topic)
    drain(history_then_live(first, then).read_stream(spark), tmp_path)
    read = sorted(written(spark, tmp_path).collect())
    renamed = HybridSource.builder("archive", first, select=HISTORY_SELECT).add_source(
        "live", then, HandOver.offsets(), LIVE_SELECT
    )
    message = failure(spark, renamed.build(), tmp_path)
    named = "legs was 'history,live' and is 'archive,live' now"
    assert_says(message, "SPLICE_CHECKPOINT.SOURCE_CHANGED", named, "new checkpoint location")
    # The history has ended, so its path is not compared.
    elsewhere = shutil.copytree(history_path, tmp_path / "elsewhere")
    drain(history_then_live(history(elsewhere), then).read_stream(spark), tmp_path)
    # The rows of the history have been read, and the rule has been decided.
    changed = HybridSource.builder(
        "history", first, select="order_id, amount * 2 AS amount, event_time"
    ).add_source("live", then, HandOver.now_minus("1h"), LIVE_SELECT)
    drain(changed.build().read_stream(spark), tmp_path)
    assert sorted(written(spark, tmp_path).collect()) == read


def test_a_checkpoint_of_another_source(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    drain(spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load(), tmp_path)
    source = history_then_live(history(history_path), live(topics, topic))
    message = failure(spark, source, tmp_path)
    assert_says(message, "SPLICE_CHECKPOINT.OTHER_SOURCE", "a new checkpoint location")


def test_a_damaged_entry_and_an_offset_of_a_newer_version(
    spark: SparkSession, topics: KafkaTopics, topic: str, history_path: Path, tmp_path: Path
) -> None:
    source = history_then_live(history(history_path), live(topics, topic))
    drain(source.read_stream(spark), tmp_path)
    read = sorted(written(spark, tmp_path).collect())
    side_log = tmp_path / "checkpoint" / "sources" / "0" / "splice"
    # DamagedEntriesSuite has the other entries, including entries that no restart reads.
    for name in ("chain-00000000", "session", "leg-live/hand-over-00000000"):
        entry = side_log / name
        content = entry.read_text()
        entry.with_name(f".{entry.name}.crc").unlink(missing_ok=True)
        entry.write_text("v1\ndamaged content\n")
        message = failure(spark, source, tmp_path)
        assert_says(message, "SPLICE_CHECKPOINT.CORRUPT", rf"sources/0/splice/{name}\b")
        entry.write_text(content)
    drain(source.read_stream(spark), tmp_path)
    assert sorted(written(spark, tmp_path).collect()) == read
    for offset in (tmp_path / "checkpoint" / "offsets").glob("[0-9]*"):
        offset.write_text(re.sub(r'"v":\d+\}', '"v":99}', offset.read_text()))
        offset.with_name(f".{offset.name}.crc").unlink(missing_ok=True)
    message = failure(spark, source, tmp_path)
    assert_says(
        message,
        "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED",
        "99",
        "the newer version or a later version",
    )
