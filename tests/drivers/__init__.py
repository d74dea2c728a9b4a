# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Queries in a Spark driver of their own, which can be killed and started again."""
