# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Call configure() and print its result."""

from __future__ import annotations

from pyspark.sql import SparkSession

from splice import SetupError, configure

if __name__ == "__main__":
    try:
        configure(SparkSession.builder)
        print("configured")
    except SetupError as error:
        print("rejected:", error)
