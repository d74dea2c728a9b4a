# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Runbooks for many clusters."""
