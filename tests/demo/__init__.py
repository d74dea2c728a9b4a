# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo: a history and a live topic become one stream that survives being killed."""
