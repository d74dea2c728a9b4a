# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Texts and HTML of sources, and pandas data frames."""
