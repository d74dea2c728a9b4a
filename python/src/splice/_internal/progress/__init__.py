# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Rates of queries, and displays of their progress."""
