# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka clusters of one or several brokers, their topics, and their jars."""
