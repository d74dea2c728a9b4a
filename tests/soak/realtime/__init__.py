# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Seeds over sources whose rows a query copies to a topic in real-time mode."""
