# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of the Python package with a session and a broker."""
