# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks, and the comparison of two builds."""
