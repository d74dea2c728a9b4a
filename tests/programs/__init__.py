# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs that tests run in separate processes, like programs of users."""
