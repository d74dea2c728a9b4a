# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Many whole lives of a query, each killed at steps that a seed chooses."""
