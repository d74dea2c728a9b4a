# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Seeds over changing topics on three brokers."""
