# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The same queries through Spark's own Kafka source and through ours, compared."""
