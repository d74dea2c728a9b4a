# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Comparison of queries with Spark's Kafka source and with Splice."""
