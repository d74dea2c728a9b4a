# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A pinned version of a table of Delta, while writers change the table.

Only the jar of Delta has deletion vectors, compaction and the history of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import deltalake
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from servers.waiting import PATIENCE
from splice import TableSource
from tables import formats

pytestmark = pytest.mark.skipif(not formats.HAS_DELTA, reason=formats.WITHOUT_DELTA)

DAYS = 3
Rows = Mapping[int, int]
"""Amount of each order."""


class Ledger:
    """Table of Delta with deletion vectors, and its rows after each change."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        """Create a table without rows."""
        self.session, self.path = session, str(folder)
        self.amounts: dict[int, int] = {}
        self._sql(
            f"CREATE TABLE delta.`{folder}` (order LONG, amount LONG, day LONG) USING delta "
            "PARTITIONED BY (day) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
        )

    def append(self, *orders: int, columns: str = "*") -> None:
        """Append rows to each day, with further columns."""
        rows = [(order, 0, order % DAYS) for order in orders]
        made = self.session.createDataFrame(rows, "order LONG, amount LONG, day LONG")
        writer = made.coalesce(1).selectExpr(*columns.split(";")).write.format("delta")
        writer.mode("append").option("mergeSchema", "true").save(self.path)
        self.amounts |= dict.fromkeys(orders, 0)

    def delete(self, modulus: int) -> None:
        """Delete each order that is a multiple of a number."""
        self._sql(f"DELETE FROM delta.`{self.path}` WHERE order % {modulus} = 0")
        self.amounts = {order: a for order, a in self.amounts.items() if order % modulus}

    def update(self, modulus: int) -> None:
        """Increase the amount of each order that is a multiple of a number."""
        self._sql(f"UPDATE delta.`{self.path}` SET amount = amount + 1 WHERE order % {modulus} = 0")
        for order in self.amounts:
            self.amounts[order] += order % modulus == 0

    def compact(self) -> None:
        """Write small files and files with deletion vectors again."""
        self._sql(f"OPTIMIZE delta.`{self.path}`")

    def read(self) -> DataFrame:
        """Return a stream whose batches have one day each."""
        builder = TableSource.format("delta").option("path", self.path)
        return builder.max_bytes_per_trigger(1).build().read_stream(self.session)

    def _sql(self, statement: str) -> None:
        self.session.sql(statement).collect()


def drained(stream: DataFrame, folder: Path, then: Callable[[int], None] = lambda _: None) -> Rows:
    """Drain a stream, and return the rows of batches that ``then`` does not fail."""
    seen: dict[int, int] = {}

    def collect(rows: DataFrame, batch: int) -> None:
        then(batch)
        found = [(row.order, row.amount) for row in rows.collect()]
        assert len({order % DAYS for order, _ in found}) <= 1
        assert not seen.keys() & dict(found).keys()
        assert len(found) == len(dict(found))
        seen.update(found)

    writer = stream.writeStream.foreachBatch(collect)
    writer = writer.option("checkpointLocation", str(folder)).trigger(availableNow=True)
    query = writer.start()
    with suppress(PySparkException):
        query.awaitTermination(PATIENCE)
    assert query.exception() is None or "planted failure" in str(query.exception())
    return seen


def test_a_version_stays_the_same_while_writers_change_the_table(
    lake: SparkSession, tmp_path: Path
) -> None:
    ledger = Ledger(lake, tmp_path / "orders")
    ledger.append(*range(60))
    ledger.delete(7)
    ledger.update(5)
    pinned = dict(ledger.amounts)

    def change(batch: int) -> None:
        if batch == 1:
            ledger.append(*range(100, 130), columns="*;'new' AS note")
            ledger.delete(4)
        if batch == 2:
            raise RuntimeError("planted failure")

    first = drained(ledger.read(), tmp_path / "checkpoint", change)
    ledger.compact()
    # The stream after the restart has the new column, which the pinned version does not have.
    rest = drained(ledger.read(), tmp_path / "checkpoint")
    assert not first.keys() & rest.keys()
    assert {**first, **rest} == pinned
    assert {order % DAYS for order in first} == {0, 1}
    later = ledger.read()
    assert later.columns == ["order", "amount", "day", "note"]
    assert drained(later, tmp_path / "later") == ledger.amounts != pinned
    assert by_delta_rs(ledger.path) == ledger.amounts


def by_delta_rs(path: str) -> Rows:
    """Return the rows as an independent reader reads them."""
    rows = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(path))
    found = rows.execute('SELECT "order", amount FROM t').read_all()
    return {row["order"]: row["amount"] for row in found.to_struct_array().to_pylist()}
