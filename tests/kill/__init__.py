# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Drivers that are killed at chosen steps, and the output after their restart."""
