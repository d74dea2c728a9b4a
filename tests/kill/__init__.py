# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Drivers killed at chosen steps, and what comes out after they were started again."""
