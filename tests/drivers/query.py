# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs the job that is described in the file named by the first argument.

The query ends by itself where its trigger lets it, or when the file ``stop`` appears in the job's
folder; then all that is there is read first. Its progress reports go to ``progress.jsonl``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from drivers.session import session


def main(given: Path) -> None:
    """Runs the job."""
    job = json.loads(given.read_text())
    folder = Path(job["folder"])
    spark = session(folder, job["conf"])
    stream = spark.readStream.format("splice").options(**job["options"]).load()
    query = (
        stream.writeStream.format("parquet")
        .option("path", job["output"])
        .option("checkpointLocation", job["checkpoint"])
        .trigger(**job["trigger"])
        .start()
    )
    seen = -1
    ended = False
    while not ended:
        ended = bool(query.awaitTermination(1))
        if not ended and (folder / "stop").exists():
            query.processAllAvailable()
            query.stop()
            ended = True
        seen = _report(folder, query.recentProgress, seen)
    spark.stop()


def _report(folder: Path, reports: list[Any], seen: int) -> int:
    with (folder / "progress.jsonl").open("a") as out:
        for report in reports:
            if report["batchId"] > seen:
                out.write(report.json.replace("\n", " ") + "\n")
    return max([seen, *(int(report["batchId"]) for report in reports)])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
