# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Print the gauges of a query in Spark's metric system, while it runs and after its end.

Arguments: the source's options and the session's settings as JSON, and the working folder.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

from servers.waiting import wait_for
from sessions import session


def main(options: dict[str, str], conf: dict[str, str], folder: Path) -> None:
    """Run the query."""
    spark = session(folder, conf)
    page = f"{spark.sparkContext.uiWebUrl}/metrics/json"
    query = (
        spark.readStream.format("splice")
        .options(**options)
        .load()
        .writeStream.format("noop")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    query.processAllAvailable()
    wait_for("the gauges", lambda: _gauges(page, query.id))
    print("RUNNING", json.dumps(_gauges(page, query.id)))
    query.stop()
    print("STOPPED", json.dumps(_gauges(page, query.id)))
    spark.stop()


def _all(page: str) -> dict[str, dict[str, int]]:
    figures: dict[str, dict[str, dict[str, int]]] = json.loads(
        urllib.request.urlopen(page, timeout=60).read()
    )
    return figures["gauges"]


def _gauges(page: str, query: object) -> dict[str, int]:
    return {
        name.split(f".{query}.", 1)[1]: gauge["value"]
        for name, gauge in _all(page).items()
        if f"splice.spark.MetricsPlugin.{query}." in name
    }


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3]))
