# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Tables of real formats and databases as sources."""
