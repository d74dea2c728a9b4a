# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Servers for tests: started, killed and restarted from Python, gone when the run ends."""
