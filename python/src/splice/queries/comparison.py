# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Comparison of the records of two clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def compare_clusters(rows: DataFrame, left: str, right: str) -> DataFrame:
    """Return the keys whose records differ between two clusters.

    The function compares values by their 64-bit hash, and does not compare order, headers and
    offsets. Records without a key count as one key. Spark Connect is supported.

    Args:
        rows: A batch read of streams that are on both clusters, with the columns ``key``,
            ``value``, ``_stream`` and ``_cluster``. If producers still write records, set
            ``ending_offsets`` to a timestamp.
        left: Name of the first cluster.
        right: Name of the second cluster.

    Returns:
        ``_stream``, ``key``, the numbers of records as ``left_rows`` and ``right_rows``, and the
        numbers of records that only one cluster has as ``only_left`` and ``only_right``. The
        result has no row if the records are equal.

    Examples:
        >>> both = (
        ...     DynamicKafkaSource.builder()
        ...     .metadata_file("/config/mirror.yaml")
        ...     .streams("orders")
        ...     .ending_offsets("latest")
        ...     .build()
        ... )
        >>> compare_clusters(both.read(spark), "east", "west").count()
        5
    """
    from pyspark.sql import functions as f

    cluster = f.col("_cluster")

    def of(name: str) -> Column:
        return f.sum(f.when(cluster == name, 1).otherwise(0))

    def more(those: str, than: str) -> Column:
        return f.sum(f.greatest(f.col(those) - f.col(than), f.lit(0)))

    return (
        rows.where(cluster.isin(left, right))
        .groupBy("_stream", "key", f.xxhash64("value"))
        .agg(of(left).alias("left"), of(right).alias("right"))
        .groupBy("_stream", "key")
        .agg(
            f.sum("left").alias("left_rows"),
            f.sum("right").alias("right_rows"),
            more("left", than="right").alias("only_left"),
            more("right", than="left").alias("only_right"),
        )
        .where((f.col("only_left") > 0) | (f.col("only_right") > 0))
    )
