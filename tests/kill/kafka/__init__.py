# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills of queries over one topic."""
