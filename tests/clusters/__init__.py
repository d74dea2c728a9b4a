# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests with streams on three clusters: one has three brokers, and one requires a login."""
