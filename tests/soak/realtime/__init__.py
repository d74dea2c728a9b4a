# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Seeds over a topic that a query copies to another topic."""
