# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Jars of table formats and of the driver of PostgreSQL, and the settings of their sessions."""

from __future__ import annotations

from collections.abc import Mapping

import pyspark

from servers.jars import ROOT, staged

_STAGED = ROOT / "tests" / "tables" / "target"
_TASK = "tableFormats/stage"
_EXTENSIONS = "spark.sql.extensions"

HAS_DELTA = pyspark.__version__.startswith("4.2.")
HAS_ICEBERG = pyspark.__version__.startswith("4.1.")

WITHOUT_DELTA = "the jars of Delta are of Spark 4.2"
WITHOUT_ICEBERG = "the jar of Iceberg is of Spark 4.1"
"""Reasons to skip tests that need the jars."""


def jars() -> list[str]:
    """Return the paths of the jars that fit the version of PySpark."""
    folders = ["postgresql"] + ["delta"] * HAS_DELTA + ["iceberg"] * HAS_ICEBERG
    return [str(jar) for folder in folders for jar in staged(_STAGED / folder, _TASK)]


def extensions() -> Mapping[str, str]:
    """Return the settings of a JVM that reads tables of the formats."""
    if HAS_DELTA:
        return {
            _EXTENSIONS: "io.delta.sql.DeltaSparkSessionExtension",
            # By default, each start and each change of a small table has 50 tasks.
            "spark.databricks.delta.snapshotPartitions": "2",
        }
    if HAS_ICEBERG:
        return {_EXTENSIONS: "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"}
    return {}


def catalogs(warehouse: str) -> Mapping[str, str]:
    """Return the settings of the catalogs. A session has to set them before it reads a table.

    The catalog ``spark_catalog`` has tables of Delta. The catalog ``lake`` has tables of Iceberg.
    """
    if HAS_DELTA:
        delta = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        return {"spark.sql.catalog.spark_catalog": delta}
    return {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": warehouse,
    }
