# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Servers that tests start, kill and restart, and that end with the run."""
