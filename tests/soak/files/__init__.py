# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Seeds over a watched folder, alone or before a topic."""
