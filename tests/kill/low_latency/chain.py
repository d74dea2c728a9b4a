# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Hybrids over the first records of a topic and over its later records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import pyarrow.parquet as pq

from demo import archive
from kill.copies import Copies
from kill.query import Row
from kill.relay import Relay

_SHARE = 0.5
_FILES = 4

SELECT = [
    "substring_index(killing(concat(_leg, '/', key)), '/', -1) AS key",
    "concat_ws(',', partition, offset, key) AS value",
]
"""SELECT list of copies, with the killing column, which receives the leg and the key."""

LIVE_SELECT = "CAST(key AS STRING) AS key, partition, offset"
"""SELECT list of a leg over the topic."""

# Options of every source, which the hybrid passes to its legs.
_COMMON = {"slots", "assigner", "endBatchOnChange"}


class Chain(Relay):
    """Hybrid of an archive of the first records of each partition, and of the topic."""

    def keep(self) -> None:
        """Write the first records of each partition to the archive."""
        sizes = {p: end for p, (_, end) in self.topics.offsets(self.topic).items()}
        self.ends = archive.uneven_ends(sizes, _SHARE)
        self._write()

    def _write(self) -> None:
        folder = self.folder / "history"
        archive.archive(self.topics, self.topic, self.ends, folder, _FILES)
        tables = [pq.read_table(file) for file in sorted(folder.glob("*.parquet"))]
        self._files: list[list[Row]] = [
            list(zip(table["partition"].to_pylist(), table["offset"].to_pylist(), strict=True))
            for table in tables
        ]

    def copied(self, replicas: int = 1) -> Copies:
        """Return a query that copies the rows."""
        return Copies(self, replicas, select=SELECT, start={}, source="splice")

    @property
    def source_options(self) -> dict[str, str]:
        """Return the options of the hybrid and of its legs."""
        return {
            "source": "hybrid",
            "legs": "history,live",
            **{f"history.{key}": value for key, value in self.history.items()},
            **{f"live.{key}": value for key, value in self.live.items()},
        }

    @property
    def log(self) -> dict[str, str]:
        """Return the options of the topic."""
        return super().source_options

    @property
    def history(self) -> dict[str, str]:
        """Return the options of the first leg."""
        return {
            "source": "files",
            "format": "parquet",
            "path": str(self.folder / "history"),
            "select": "order_id AS key, partition, offset",
        }

    @property
    def live(self) -> dict[str, str]:
        """Return the options of the last leg."""
        return {
            "source": "kafka",
            "handOver": "offsets",
            "select": LIVE_SELECT,
            **self.log,
        }

    def named(self, options: Mapping[str, str]) -> Mapping[str, str]:
        """Return options of the last leg, and options of every source, with their names."""
        return {key if key in _COMMON else f"live.{key}": value for key, value in options.items()}

    def committed_rows(self) -> AbstractSet[Row]:
        """Return the rows of both legs before the committed offsets."""
        legs = self.checkpoint.committed_offset().get("legs", {})
        live = self._of_live(legs.get("live", {}))
        return self._of_history(legs.get("history", {})) | {
            (int(p), at) for p, end in live.items() for at in range(self.ends.get(int(p), 0), end)
        }

    def _of_history(self, offset: Mapping[str, Any]) -> AbstractSet[Row]:
        """Return the rows of the archive before an offset. Each file is one block."""
        read = self._files[: offset.get("files", 0)]
        partly = offset.get("partly", {})
        return {row for n, file in enumerate(read) for row in file[: partly.get(f"{n}:0")]}

    def _of_live(self, offset: Mapping[str, Any]) -> Mapping[str, int]:
        read: Mapping[str, int] = offset.get(self.topic, {})
        return read


class LogChain(Chain):
    """Hybrid of a topic up to its first offsets, and of a stream of the same topic."""

    def _write(self) -> None:
        self._document = self.folder / "streams.json"
        servers = {"only": {"bootstrapServers": self.topics.bootstrap_servers}}
        streams = {"orders": {"only": [self.topic]}}
        document = {"version": 1, "generation": 1, "clusters": servers, "streams": streams}
        self._document.write_text(json.dumps(document))

    @property
    def history(self) -> dict[str, str]:
        """Return the options of the first leg."""
        return {
            **self.log,
            "source": "kafka",
            "startingOffsets": "earliest",
            "endingOffsets": json.dumps({self.topic: self.ends}),
            "select": LIVE_SELECT,
        }

    @property
    def live(self) -> dict[str, str]:
        """Return the options of the last leg."""
        return {
            "source": "dynamicKafka",
            "handOver": "offsets",
            "select": LIVE_SELECT,
            "metadata.file": str(self._document),
            "streams": "orders",
        }

    def _of_history(self, offset: Mapping[str, Any]) -> AbstractSet[Row]:
        ends = offset.get(self.topic, {})
        return {(int(p), at) for p, end in ends.items() for at in range(end)}

    def _of_live(self, offset: Mapping[str, Any]) -> Mapping[str, int]:
        return super()._of_live(offset.get("clusters", {}).get("only", {}))
