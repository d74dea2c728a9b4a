# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Faults of brokers, networks and executors while a query runs."""
