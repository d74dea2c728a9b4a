# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Write the driver's page of metrics for Prometheus, while two queries run.

Arguments: the options of the sources and the session's settings as JSON, and the working folder.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.request
from pathlib import Path

from servers.waiting import wait_for
from sessions import session

_PLUGIN = "metrics_\\w+_driver_plugin_splice_spark_MetricsPlugin"


def main(sources: dict[str, dict[str, str]], conf: dict[str, str], folder: Path) -> None:
    """Run a query per source. The name of a source is the name of its query."""
    spark = session(folder, conf)
    page = f"{spark.sparkContext.uiWebUrl}/metrics/prometheus/"

    def text() -> str:
        return str(urllib.request.urlopen(page, timeout=60).read(), "utf-8")

    queries = [
        spark.readStream.format("splice")
        .options(**options)
        .load()
        .writeStream.format("noop")
        .queryName(name)
        .option("checkpointLocation", str(folder / "checkpoints" / name))
        .trigger(processingTime="100 milliseconds")
        .start()
        for name, options in sources.items()
    ]
    for query in queries:
        query.processAllAvailable()
    # Each query reads Kafka, and the report of its last batch has the totals of the tasks.
    parts = ("_0_rowsBehind_Value", "_0_readersOpenedTotal_Count")
    patterns = [
        re.compile(rf"^{_PLUGIN}_{re.sub('[^a-zA-Z0-9]', '_', name)}{part}{{\S+ {value}$", re.M)
        for name in sources
        for part, value in zip(parts, ("0", r"[1-9]\d*"), strict=True)
    ]
    wait_for("metrics", lambda: all(one.search(text()) for one in patterns))
    (folder / "metrics.txt").write_text(text())
    spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3]))
