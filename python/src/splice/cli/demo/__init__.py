# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Command ``splice demo``."""
