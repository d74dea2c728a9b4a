# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Bounded reads, chains, and commits to consumer groups."""
