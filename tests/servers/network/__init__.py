# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Proxies and servers that simulate or record connections."""
