# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Splice joins sources into one Spark stream: first the history, then the log, each row once.

Call :func:`configure`, create each source with its builder, join the sources with
:class:`HybridSource`, and read the result with ``read_stream()`` or ``read()``.
"""

from splice.configure import configure
from splice.dynamic_kafka import DynamicKafkaSource, DynamicKafkaSourceBuilder
from splice.errors import OptionError, SetupError, SourceError
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
from splice.queries.history import query_history
from splice.queries.plan import LegPlan, SourcePlan, TopicPlan
from splice.queries.switches import HandOverDescription
from splice.queries.watch import watch
from splice.source import SourceSpec

__all__ = [
    "ClusterDescription",
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
    "FileSource",
    "FileSourceBuilder",
    "HandOver",
    "HandOverDescription",
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
    "SetupError",
    "SourceDescription",
    "SourceError",
    "SourcePlan",
    "SourceSpec",
    "TopicPlan",
    "WaitingGroupDescription",
    "compare_clusters",
    "configure",
    "describe",
    "query_history",
    "watch",
]
