# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Chains of a history and a topic."""
