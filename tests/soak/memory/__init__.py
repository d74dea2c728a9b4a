# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Random runs that measure memory with a large backlog."""
