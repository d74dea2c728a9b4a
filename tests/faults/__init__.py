# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Brokers that die, networks that fail and executors that are lost, under a query that goes on."""
