# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Changes of the metadata while queries run, and between their runs."""
