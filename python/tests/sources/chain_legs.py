# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Sources for the chains of tests."""

from __future__ import annotations

from splice import FileSource, KafkaSource

HISTORY = FileSource.builder("parquet", "/lake/orders/").build()
LIVE = KafkaSource.builder().bootstrap_servers("broker:9092").topics("orders").build()
BOUNDED = (
    KafkaSource.builder()
    .bootstrap_servers("broker:9092")
    .topics("orders")
    .ending_offsets("latest")
    .build()
)
