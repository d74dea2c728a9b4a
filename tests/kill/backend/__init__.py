# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs of queries in a driver process, or in the session of the tests."""
