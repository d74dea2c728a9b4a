# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Plans, descriptions and histories of queries, and the comparison of two clusters."""
