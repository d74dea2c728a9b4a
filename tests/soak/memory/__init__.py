# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Seeds of the memory of a large backlog."""
