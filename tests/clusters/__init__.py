# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Streams on three real clusters, one of three brokers, one where clients log in."""
