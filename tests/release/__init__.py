# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A trial of the artifacts of a release."""
