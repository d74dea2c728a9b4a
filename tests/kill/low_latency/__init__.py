# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of queries in real-time mode and continuous mode."""
