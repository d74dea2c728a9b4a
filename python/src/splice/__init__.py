# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Splice joins sources into one Spark stream: first the history, then the log.

Call :func:`configure`, create each source with its builder, join the sources with ``then``, and
read the result with ``read_stream()`` or ``read()``.

Examples:
    >>> history = FileSource.builder("parquet", "/lake/orders").build()
    >>> live = (
    ...     KafkaSource.builder()
    ...     .bootstrap_servers("broker:9092")
    ...     .topics("orders")
    ...     .json_values("amount DOUBLE")
    ...     .build()
    ... )
    >>> orders = history.then(
    ...     live,
    ...     hand_over=HandOver.offsets(),
    ...     select=("order_id, amount", "CAST(key AS STRING) AS order_id, value.amount AS amount"),
    ... )
    >>> query = (
    ...     orders.read_stream(spark)
    ...     .writeStream.format("parquet")
    ...     .option("path", "/lake/copy")
    ...     .option("checkpointLocation", "/checkpoints/copy")
    ...     .trigger(availableNow=True)
    ...     .start()
    ... )
    >>> query.awaitTermination()

The examples of this package use these names, and ``spark``, a classic session of
``configure(SparkSession.builder).getOrCreate()``.
"""

from splice.configure import configure
from splice.dynamic_kafka import DynamicKafkaSource, DynamicKafkaSourceBuilder
from splice.errors import OptionError, SetupError, SourceError, SpliceError
from splice.files import FileSource, FileSourceBuilder
from splice.hand_over import HandOver
from splice.hybrid import HybridSource, HybridSourceBuilder
from splice.kafka import KafkaSource, KafkaSourceBuilder
from splice.offsets import OffsetsInitializer
from splice.queries.clusters import ClusterDescription, WaitingGroupDescription
from splice.queries.comparison import compare_clusters
from splice.queries.describe import (
    LagDescription,
    QueryDescription,
    QueryDescriptions,
    SourceDescription,
    describe,
)
from splice.queries.history import HistoryEvent, QueryHistory, query_history
from splice.queries.plan import LegPlan, SourcePlan, TopicPlan
from splice.queries.switches import HandOverDescription
from splice.queries.watch import watch
from splice.source import SourceSpec
from splice.streams import StreamSource, StreamSourceBuilder
from splice.tables import TableSource, TableSourceBuilder

__all__ = [
    "ClusterDescription",
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
    "FileSource",
    "FileSourceBuilder",
    "HandOver",
    "HandOverDescription",
    "HistoryEvent",
    "HybridSource",
    "HybridSourceBuilder",
    "KafkaSource",
    "KafkaSourceBuilder",
    "LagDescription",
    "LegPlan",
    "OffsetsInitializer",
    "OptionError",
    "QueryDescription",
    "QueryDescriptions",
    "QueryHistory",
    "SetupError",
    "SourceDescription",
    "SourceError",
    "SourcePlan",
    "SourceSpec",
    "SpliceError",
    "StreamSource",
    "StreamSourceBuilder",
    "TableSource",
    "TableSourceBuilder",
    "TopicPlan",
    "WaitingGroupDescription",
    "compare_clusters",
    "configure",
    "describe",
    "query_history",
    "watch",
]
