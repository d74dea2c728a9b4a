# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Modules that programs must not import. These modules can change in any release."""
