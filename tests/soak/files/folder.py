# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Folder to which a thread adds files of orders, alone or as the archive of a topic."""

from __future__ import annotations

import io
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from background import Background
from demo import archive, orders
from kill.relay import Relay
from servers.kafka.topics import KafkaTopics
from soak.files.fate import MARKER, FilesFate

_COLUMNS = "order_id STRING, amount DOUBLE, topic STRING, partition INT, offset BIGINT"
_SCHEMA = archive.SCHEMA.remove(archive.SCHEMA.get_field_index("event_time"))
_OF_LEG = "substring_index(killing(concat(_leg, '/', order_id)), '/', -1) AS order_id"
_OF_LINE = [
    "killing(get_json_object(value, '$.order_id')) AS order_id",
    "CAST(get_json_object(value, '$.amount') AS DOUBLE) AS amount",
]
_LIVE_SELECT = (
    "CAST(key AS STRING) AS order_id, "
    "from_json(CAST(value AS STRING), 'amount DOUBLE').amount AS amount"
)
_HIDDEN = (".{}", "_{}", "{}._COPYING_", "_temporary/{}", ".staging/{}")
_YEAR_2099 = 4_080_000_000


class GrowingFolder(Relay):
    """Folder that grows, and its topic, which is empty if the folder is alone."""

    def __init__(self, topics: KafkaTopics, topic: str, story: Path, destiny: FilesFate) -> None:
        """Create an empty folder and an empty topic."""
        super().__init__(topics, topic, story)
        self.path = story / "in"
        self.path.mkdir()
        self._fate, self._dice = destiny, random.Random(str(destiny))
        self._offsets, self._files, self._is_closed = Counter[int](), 0, False
        self._next: list[Callable[[], object]] = []
        columns = [_OF_LEG if destiny.end else "killing(order_id) AS order_id", "amount"]
        select = _OF_LINE if destiny.format == "text" else columns
        self.given(sink=destiny.sink, select=select, conf=destiny.conf)

    @property
    def source_options(self) -> dict[str, str]:
        """Return the options of the folder, or of the folder and of the topic."""
        given = self._fate
        columns = "value STRING" if given.format == "text" else _COLUMNS
        folder = {
            "source": "files",
            "format": given.format,
            "path": str(self.path),
            "schema": f"{columns}, day DATE" if given.layout == "days" else columns,
            "discovery": "watch",
            **given.options,
        }
        if not given.end:
            return folder
        # Without a marker, the archive may lack orders at the end of the folder.
        holes = "fill" if given.holes or MARKER not in given.end else "fail"
        history = folder | {"endWhen": given.end, "select": "order_id, amount"}
        live = {"source": "kafka", "handOver": "offsets", "onHoles": holes, "select": _LIVE_SELECT}
        legs = self.named(history) | self.named(live | super().source_options, "live")
        return {"source": "hybrid", "legs": "history,live", **legs}

    def named(self, options: Mapping[str, str], leg: str = "history") -> dict[str, str]:
        """Return options with the name of their leg. A folder alone has no option of a topic."""
        if not self._fate.end:
            return {key: value for key, value in options.items() if "Offsets" not in key}
        names = {key: "live" if "maxOffsets" in key else leg for key in options}
        return {f"{names[key]}.{key}": value for key, value in options.items()}

    def is_read(self) -> bool:
        """Return True if tasks have read all orders, and a folder before a topic has ended."""
        notes = [file.read_text().splitlines() for file in self.folder.glob("life-*/rows")]
        read = {row.rsplit("/", 1)[-1] for rows in notes for row in rows}
        has_ended = not self._fate.end or self.checkpoint.switch_has_begun
        return len(read) == self.produced and has_ended

    def has_switched(self) -> bool:
        """Return True if the newest committed batch is a batch of the topic."""
        committed = self.checkpoint.committed() if self._fate.end else -1
        return committed >= 0 and self.checkpoint.position(committed).leg == "live"

    def add(self) -> None:
        """Add orders to the topic, and a file with these orders to the folder."""
        dice, first = self._dice, self.produced
        rows = [self._row(first + number) for number in range(dice.choice([1, 4, 20, 60]))]
        if self._fate.end:
            self.produce(len(rows))
            rows = [r for n, r in enumerate(rows, first) if n % 7 != 6 or not self._fate.holes]
        else:
            self.produced += len(rows)
        self._complete()
        if rows and not self._is_closed:
            self._add_file(rows)
        if dice.random() < 0.03:
            self.close()
        if dice.random() < 0.03:
            # The folder becomes quiet.
            time.sleep(3)

    def close(self) -> None:
        """Complete the files, and add the marker after the last file if the end needs a marker."""
        self._complete()
        if MARKER in (self._fate.end or "") and not self._is_closed:
            self._is_closed = True
            (self.path / MARKER).touch()

    def _complete(self) -> None:
        for step in self._next:
            step()
        self._next = []

    def _row(self, number: int) -> dict[str, Any]:
        partition = orders.record(number).partition or 0
        self._offsets[partition] += 1
        place = {
            "topic": self.topic,
            "partition": partition,
            "offset": self._offsets[partition] - 1,
        }
        return {"order_id": orders.order_id(number), "amount": orders.amount(number), **place}

    def _add_file(self, rows: list[dict[str, Any]]) -> None:
        dice, kind, self._files = self._dice, self._fate.format, self._files + 1
        content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
        if kind == "parquet":
            out = io.BytesIO()
            pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), out)
            content = out.getvalue()
        # The order of the names differs from the order of the times.
        folder, name = self._some_folder(), f"{dice.randrange(1000):03d}-{self._files}.{kind}"
        hidden, file = folder / dice.choice(_HIDDEN).format(name), folder / name
        hidden.parent.mkdir(exist_ok=True)
        if self._fate.grows and dice.random() < 0.3:
            # Until the last write, a file of the year 2099 is younger than the minimum age.
            hidden.write_bytes(content[: len(content) // 2])
            os.utime(hidden, (_YEAR_2099, _YEAR_2099))
            visible = hidden.rename(folder / f"new-{name}")
            self._next.append(partial(_extend, visible, file, content[len(content) // 2 :]))
        else:
            hidden.write_bytes(content)
            if dice.random() < 0.5:
                late = 0 if self._fate.grows else _YEAR_2099
                when = dice.choice([1, 1_700_000_000, 1_700_000_000 + self._files, late])
                os.utime(hidden, (when, when))
            hidden.rename(hidden.with_name(f".again-{name}")).rename(file)
        if dice.random() < 0.2:
            (folder / f"empty-{name}").touch()
            (folder / f"_unfinished-{name}").write_text("{")
            empty = self.path / f"day=2025-01-{dice.randint(1, 28):02d}"
            empty.mkdir()
            self._next.append(empty.rmdir)

    def _some_folder(self) -> Path:
        dice, folder = self._dice, self.path
        if self._fate.layout == "days":
            day = max(1, 1 + self._files // 8 - dice.choice([0, 0, 0, 1, 3]))
            folder /= f"day=2026-{day // 28 + 1:02d}-{day % 28 + 1:02d}"
        elif self._fate.layout == "nested":
            folder = folder.joinpath(*dice.choices("ab", k=dice.randint(0, 2)))
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _extend(visible: Path, file: Path, end: bytes) -> None:
    with visible.rename(file).open("ab") as out:
        out.write(end)


class Writer(Background):
    """Thread that adds files to a folder."""

    def __init__(self, folder: GrowingFolder) -> None:
        """Create the thread, without a start."""
        super().__init__("writer", pause=0.3)
        self._folder = folder

    def work(self) -> None:
        """Add one file."""
        self._folder.add()
