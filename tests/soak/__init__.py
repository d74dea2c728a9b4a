# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs of queries whose drivers are killed at steps that a seed chooses."""
