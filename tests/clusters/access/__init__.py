# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Logins, names and addresses of clusters."""
