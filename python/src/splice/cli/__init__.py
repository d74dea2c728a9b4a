# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Command line ``splice``, and its exit codes."""

OK = 0
"""The command found no problem."""

PROBLEM = 1
"""The command found a problem, and printed the problem."""

USAGE = 2
"""The arguments are invalid, or the command could not run."""
