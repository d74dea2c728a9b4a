# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Seeds over a table of Delta and a topic."""
