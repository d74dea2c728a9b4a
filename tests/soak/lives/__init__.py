# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Blocks of scenarios of the simulations of the Scala tests."""
