# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs of the pages about single sources and hybrids."""
