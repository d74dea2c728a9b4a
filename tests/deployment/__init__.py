# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs that start outside of the session of the tests."""
