# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Demo: one stream over a history and a live topic, whose driver is killed."""
