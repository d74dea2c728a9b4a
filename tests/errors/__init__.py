# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Texts of errors, and their remedies."""
