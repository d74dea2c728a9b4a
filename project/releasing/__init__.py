# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The steps of a release, from a clean tree to artifacts in local folders."""
