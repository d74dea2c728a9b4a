# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka clusters that require a login, and their certificates."""
