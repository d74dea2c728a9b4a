# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Run the queries of the file in the first argument, with the killing column for each row.

A query ends if its trigger ends, or when the folder has a file ``stop``. In the latter case, the
query first reads all available rows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from kill import killing
from kill.counted_rule import counted_rule
from triggers import set_trigger


def main(given: Path) -> None:
    """Run the queries."""
    plan = json.loads(given.read_text())
    builder = SparkSession.builder.master(plan["master"]).config(map=plan["conf"])
    spark = builder.getOrCreate()
    spark.udf.registerJavaFunction("killing", killing.COLUMN, "string")
    queries = [start(spark, query) for query in plan["queries"]]
    stop = given.with_name("stop")
    while any(query.isActive for query in queries):
        queries[0].awaitTermination(1)
        if stop.exists():
            drain(queries, plan["queries"])
    for query in queries:
        query.awaitTermination()
    spark.stop()
    if any("ArchiveClassesAtExit" in value for value in plan["conf"].values()):
        _end_jvm(spark)


def drain(queries: Sequence[StreamingQuery], given: Sequence[Mapping[str, Any]]) -> None:
    """Stop queries after they have read all available rows."""
    for query, given_query in zip(queries, given, strict=True):
        # A batch that ends after a fixed time has no end offset to wait for.
        if not {"realTime", "continuous"} & given_query["trigger"].keys():
            query.processAllAvailable()
        query.stop()


def _end_jvm(spark: SparkSession) -> None:
    # The JVM shuts down when its input ends. The end of this process would kill the JVM.
    gateway: Any = spark.sparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


_HYBRID = [
    "substring_index(killing(concat(_leg, '/', order_id)), '/', -1) AS order_id",
    "amount",
    "event_time",
]


def start(spark: SparkSession, given: Mapping[str, Any]) -> StreamingQuery:
    """Start a query whose session has the killing column."""
    options = dict(given["options"])
    if given.get("custom_rule"):
        rule = counted_rule(Path(given["custom_rule"]))
        rule.prepare()
        options |= {f"live.{key}": value for key, value in rule.options().items()}
    source = spark.readStream.format(given.get("format", "splice")).options(**options)
    rows = source.load().selectExpr(*given.get("select", _HYBRID))
    if given.get("counted"):
        rows = rows.groupBy("key").count().selectExpr("key", "CAST(count AS STRING) AS value")
    writer = (
        rows.writeStream.option("checkpointLocation", given["checkpoint"])
        .outputMode(given.get("output_mode", "append"))
        .options(**given["sink_options"])
    )
    writer = set_trigger(spark, writer, given["trigger"])
    if given["sink"] == "batches":
        return writer.foreachBatch(_into_folders(given["output"])).start()
    if given["sink"] == "parquet":
        writer = writer.option("path", given["output"])
    return writer.format(given["sink"]).start()


def _into_folders(output: str) -> Any:
    # A repeated batch replaces the output of its first run, so the sink has each row once.
    def write(rows: DataFrame, batch: int) -> None:
        rows.write.mode("overwrite").parquet(f"{output}/{batch}")

    return write


if __name__ == "__main__":
    main(Path(sys.argv[1]))
