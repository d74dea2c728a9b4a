# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Clusters, topics, streams and partitions that are added and removed under load."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from clusters.atlas import Atlas, rows_in, soon, splits
from clusters.load import Load
from orders import orders
from streams import drain, start


def test_a_query_continues_while_clusters_and_topics_change(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    first, second, renamed = atlas.topic("east"), atlas.topic("west"), atlas.topic("east")
    late = atlas.topic("north")
    atlas.publish({"orders": {"east": [first]}})
    query = _start(spark, atlas, tmp_path)
    with Load(atlas) as load:
        load.aim(("east", first))
        soon(query, "rows of east", lambda: splits(query) == {"east": 2})

        load.aim(("east", first), ("west", second))
        atlas.publish({"orders": {"east": [first], "west": [second]}})
        soon(query, "the addition of a cluster", lambda: splits(query) == {"east": 2, "west": 2})

        load.aim(("east", renamed), ("west", second))
        atlas.publish({"orders": {"east": [renamed], "west": [second]}})
        soon(query, "rows of the topic's new name", lambda: renamed in _offset(query))
        soon(query, "the end of the old topic", lambda: first not in _offset(query))

        load.aim(("east", renamed), ("west", second), ("north", late))
        atlas.publish(
            {"orders": {"east": [renamed], "west": [second]}, "orders-late": {"north": [late]}}
        )
        soon(query, "another stream", lambda: set(splits(query)) == {"east", "west", "north"})

        atlas.clusters.topics("west").add_partitions(second, 4)
        atlas.produce("west", second, 40, partitions=4)
        soon(query, "new partitions", lambda: splits(query).get("west") == 4)

        load.aim(("east", renamed), ("north", late))
        atlas.publish({"orders": {"east": [renamed]}, "orders-late": {"north": [late]}})
        soon(query, "the removal of a cluster", lambda: set(splits(query)) == {"east", "north"})

        atlas.produce("west", second, 30)
        load.aim(("east", renamed), ("west", second), ("north", late))
        atlas.publish(
            {"orders": {"east": [renamed], "west": [second]}, "orders-late": {"north": [late]}}
        )
        soon(
            query,
            "the return of the cluster",
            lambda: set(splits(query)) == {"east", "west", "north"},
        )
    soon(query, "all rows", lambda: rows_in(tmp_path) >= atlas.produced)
    query.stop()
    atlas.assert_read(spark, tmp_path)


def test_all_changes_between_two_runs(spark: SparkSession, atlas: Atlas, tmp_path: Path) -> None:
    east, west, north = atlas.topic("east"), atlas.topic("west"), atlas.topic("north")
    atlas.publish({"orders": {"east": [east], "west": [west]}})
    for cluster, topic in (("east", east), ("west", west)):
        atlas.produce(cluster, topic, 400)
    query = _start(spark, atlas, tmp_path)
    soon(query, "some rows", lambda: rows_in(tmp_path) > 0)
    query.stop()
    # Some removed records were not read before the query stopped.
    renamed = atlas.topic("west")
    atlas.produce("west", west, 100)
    atlas.produce("west", renamed, 100)
    atlas.produce("north", north, 100)
    atlas.publish({"orders": {"west": [renamed]}, "orders-late": {"north": [north]}})
    drained = drain(atlas.stream(spark, maxOffsetsPerTrigger=150, maxRemovalFraction=1), tmp_path)
    assert splits(drained) == {"north": 2, "west": 2}
    atlas.assert_read(spark, tmp_path)
    atlas.produce("east", east, 50)
    atlas.publish({"orders": {"east": [east], "west": [renamed]}})
    drain(atlas.stream(spark, maxRemovalFraction=1), tmp_path)
    atlas.assert_read(spark, tmp_path)


def test_rows_contain_the_name_of_their_stream(
    spark: SparkSession, atlas: Atlas, tmp_path: Path
) -> None:
    east, west, other = atlas.topic("east"), atlas.topic("west"), atlas.topic("north")
    atlas.produce("east", east, 20)
    atlas.clusters.topics("north").produce(other, orders(range(900, 910), 2))
    atlas.publish({"orders-a": {"east": [east]}, "bills": {"north": [other]}})
    drain(atlas.stream(spark), tmp_path)
    atlas.produce("west", west, 20)
    atlas.publish({"orders-a": {"east": [east]}, "orders-b": {"west": [west]}})
    drain(atlas.stream(spark), tmp_path)
    atlas.assert_read(spark, tmp_path)
    rows = spark.read.parquet(str(tmp_path / "out")).groupBy("_stream", "_cluster").count()
    found = {(row["_stream"], row["_cluster"]): row["count"] for row in rows.collect()}
    assert found == {("orders-a", "east"): 20, ("orders-b", "west"): 20}


def _start(spark: SparkSession, atlas: Atlas, folder: Path) -> StreamingQuery:
    return start(atlas.stream(spark, maxOffsetsPerTrigger=500), folder)


def _offset(query: StreamingQuery) -> str:
    progress = query.lastProgress
    return str(progress["sources"][0]["endOffset"]) if progress else ""
