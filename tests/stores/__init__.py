# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints on real storage: HDFS and an S3-compatible server."""
