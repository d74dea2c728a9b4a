# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Stopped queries over each kind of source, and commands for copies of their checkpoints."""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from orders import archive, history, history_then_live, live, order_id, orders
from servers.kafka.topics import KafkaTopics
from splice.cli.main import main
from streams import drain

PARTITIONS = 2
READ = 40
"""Number of orders that a query has read, half of them in each partition."""

UNREAD = 10
"""Number of later orders that no query has read."""

ARCHIVED = 5
"""Number of orders per partition in the archive of the hybrid."""


@dataclass(frozen=True)
class Checkpoint:
    """Copy of a checkpoint, which a test may damage.

    Attributes:
        folder: Folder with ``checkpoint`` and the output of later queries.
        topic: Topic of the query.
        servers: Address of the broker.
    """

    folder: Path
    topic: str
    servers: str

    @property
    def path(self) -> Path:
        """Return the folder of the checkpoint."""
        return self.folder / "checkpoint"

    @property
    def kafka(self) -> str:
        """Return the argument with the address of the broker."""
        return f"--servers={self.servers}"

    @property
    def side_log(self) -> Path:
        """Return the folder of the side log."""
        return self.path / "sources" / "0" / "splice"

    def batches(self) -> list[int]:
        """Return the planned batches."""
        return sorted(int(file.name) for file in (self.path / "offsets").glob("[0-9]*"))

    def position(self, batch: int) -> Any:
        """Return the position after a batch."""
        return json.loads((self.path / "offsets" / str(batch)).read_text().splitlines()[-1])

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace text in a file of the checkpoint, and remove the checksum of the file."""
        file = self.path / name
        text = file.read_text()
        assert old in text, f"{old} is not in {text}"
        self.delete(name)
        file.write_text(text.replace(old, new))

    def delete(self, name: str) -> None:
        """Delete a file of the checkpoint, and its checksum."""
        file = self.path / name
        file.unlink()
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)

    def add(self, name: str, lines: Sequence[str]) -> None:
        """Add an entry of version 1 to the side log."""
        body = "\n".join(['{"v":1}', *lines])
        digest = hashlib.sha256(body.encode()).hexdigest()[:32]
        (self.side_log / name).write_text(f"splice 1 {digest}\n{body}")

    def content(self) -> dict[str, bytes]:
        """Return the content of all files."""
        files = (file for file in self.path.rglob("*") if file.is_file())
        return {str(file.relative_to(self.path)): file.read_bytes() for file in files}


class Stopped:
    """Stopped query of one kind.

    The kinds are ``kafka`` (Splice), ``spark`` (Spark's Kafka source), ``hybrid`` and ``files``.
    """

    def __init__(self, kind: str, spark: SparkSession, topics: KafkaTopics, folder: Path) -> None:
        """Create a topic, and run the query to the end of the first orders."""
        self._kind, self._spark, self._topics = kind, spark, topics
        self._folder = folder / kind
        self.topic = f"stopped-{kind}-{uuid.uuid4().hex[:8]}"
        self.history = self._folder / "history"
        topics.create(self.topic, PARTITIONS)
        topics.produce(self.topic, orders(range(READ), PARTITIONS))
        if kind in ("hybrid", "files"):
            archive(topics, self.topic, self.history, dict.fromkeys(range(2), ARCHIVED))
        drain(self._stream(), self._folder)
        topics.produce(self.topic, orders(range(READ, READ + UNREAD), PARTITIONS))

    def copy(self, folder: Path) -> Checkpoint:
        """Return a copy of the checkpoint."""
        shutil.copytree(self._folder / "checkpoint", folder / "checkpoint")
        return Checkpoint(folder, self.topic, self._topics.bootstrap_servers)

    def resume(self, checkpoint: Checkpoint) -> list[str]:
        """Run the query on a copy, and return the ids of the rows of this run, sorted."""
        drain(self._stream(), checkpoint.folder)
        # The log of the sink lacks the batches before the copy, so the test reads the files.
        rows = self._spark.read.parquet(str(checkpoint.folder / "out" / "*.parquet"))
        return sorted(row["id"] for row in rows.collect())

    def _stream(self) -> DataFrame:
        if self._kind == "spark":
            reader = self._spark.readStream.format("kafka").option("subscribe", self.topic)
            reader = reader.option("kafka.bootstrap.servers", self._topics.bootstrap_servers)
            reader = reader.option("startingOffsets", "earliest")
            rows = reader.option("maxOffsetsPerTrigger", "10").load()
            return rows.selectExpr("CAST(key AS STRING) AS id")
        limit = {"maxOffsetsPerTrigger": "10"}
        if self._kind == "files":
            files = history(self.history, maxFilesPerTrigger="1", orderBy="path")
            return files.read_stream(self._spark).selectExpr("order_id AS id")
        if self._kind == "hybrid":
            chain = history_then_live(
                history(self.history), live(self._topics, self.topic, **limit)
            )
            return chain.read_stream(self._spark).selectExpr("order_id AS id")
        one = live(self._topics, self.topic, startingOffsets="earliest", **limit)
        return one.read_stream(self._spark).selectExpr("CAST(key AS STRING) AS id")


def of_offsets(partition: int, offsets: range) -> list[str]:
    """Return the ids of the orders at offsets of a partition."""
    return [order_id(offset * PARTITIONS + partition) for offset in offsets]


def splice(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Run the command ``splice checkpoint``, and return its exit code and its output."""
    capsys.readouterr()
    code = main(["checkpoint", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def problems(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, str]:
    """Run ``verify``, check its exit code, and return the text of each problem by its place."""
    code, out = splice(capsys, "verify", *arguments, "--format", "json")
    found = {one["where"]: one["what"] for one in json.loads(out)["findings"] if one["problem"]}
    assert code == (1 if found else 0), out
    return found
