# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The Kafka and file sources, and Spark's Kafka sink, each in one query."""
