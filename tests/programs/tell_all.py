# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Read sources with all output of Spark enabled, so that a test can search for leaked secrets.

The argument is a file with the sources by name, a flag for each readable source, the session's
settings and the output folder. The program writes plans, progress, errors and every page of Spark's
UI to standard output and to files of that folder.
"""

from __future__ import annotations

import json
import re
import sys
import traceback
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from splice import configure, describe

_PAGES = [
    "jobs",
    "stages",
    "storage",
    "environment",
    "executors",
    "SQL",
    "StreamingQuery",
    "metrics/json",
    "executors/threadDump/?executorId=driver",
]


def main(plan: dict[str, Any]) -> None:
    """Read each source and print the result."""
    folder = Path(plan["folder"])
    builder = SparkSession.builder.master(plan["master"]).config(map=plan["conf"])
    spark = configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("INFO")
    for name, options in plan["sources"].items():
        try:
            rows = _read(spark, options, folder / name)
            print(f"{name}: {rows} rows")
        except PySparkException:
            print(f"{name}: failed")
            traceback.print_exc(file=sys.stdout)
    print("clients left:", _clients(spark))
    _keep_pages(spark, folder / "pages")
    spark.stop()


def _read(spark: SparkSession, options: dict[str, str], folder: Path) -> int:
    stream = spark.readStream.format("splice").options(**options).load()
    stream.explain(True)
    query = (
        stream.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination()
    finally:
        print(query.exception(), json.dumps([query.lastProgress, query.status], default=str))
        query.explain(True)
        print(describe(query))
    batch = spark.read.format("splice").options(**options).load()
    batch.explain("extended")
    batch.explain("formatted")
    print(batch.count(), "rows in a batch")
    # Spark redacts the options of CREATE TABLE with fixed rules, regardless of the settings.
    if not any(_shown_by_spark(key, value) for key, value in options.items()):
        _sql(spark, options, folder.name)
    return spark.read.parquet(str(folder / "out")).count()


def _shown_by_spark(key: str, value: str) -> bool:
    if key == "kafka.ssl.keystore.key":
        return not value.startswith("${")
    return key.startswith("metadata.header.")


def _clients(spark: SparkSession) -> list[str]:
    threads = spark._jvm.java.lang.Thread.getAllStackTraces().keySet()  # type: ignore[union-attr]
    return [thread.getName() for thread in threads if "kafka" in thread.getName()]


def _sql(spark: SparkSession, options: dict[str, str], name: str) -> None:
    clause = ", ".join("'{}' '{}'".format(k, v.replace("'", "\\'")) for k, v in options.items())
    spark.sql(f"CREATE TABLE {name} USING splice OPTIONS ({clause})")
    for question in ("SHOW CREATE TABLE", "DESCRIBE EXTENDED", "SHOW TBLPROPERTIES"):
        spark.sql(f"{question} {name}").show(100, truncate=False)
    print(spark.table(name).count(), "rows in a table")


def _keep_pages(spark: SparkSession, folder: Path) -> None:
    folder.mkdir()
    ui, app = spark.sparkContext.uiWebUrl, spark.sparkContext.applicationId
    assert ui
    api = f"{ui}/api/v1/applications/{app}"
    urls = [f"{ui}/{page}" for page in _PAGES]
    urls += [f"{api}/{what}" for what in ("jobs", "stages?details=true", "environment")]
    urls += [f"{api}/{what}" for what in ("allexecutors", "sql?details=true&length=1000")]
    known: set[str] = set()
    while urls:
        url = urls.pop()
        if url in known:
            continue
        known.add(url)
        try:
            text = urllib.request.urlopen(url, timeout=60).read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
        (folder / f"{len(known)}.html").write_text(f"{url}\n{text}")
        links = re.findall(r'href="(/[^"]*/\?[^"]*id=[^"]*)"', text)
        urls += [f"{ui}{link}".replace("&amp;", "&") for link in links if "sort" not in link]
    print(len(known), "pages")


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
