# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One provoked error for each error condition."""
