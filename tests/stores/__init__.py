# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints on HDFS and on an S3-compatible server."""
