# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress reports as Spark returns them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

START = datetime(2026, 11, 26, 14, 0, tzinfo=timezone.utc)


def report(
    batch: int, at: float, took: float = 1, rows: int = 0, run: str = "a", **metrics: object
) -> dict[str, Any]:
    """Return a report of a query with one source.

    Args:
        batch: Number of the batch.
        at: Start of the batch, in seconds.
        took: Duration of the batch, in seconds.
        rows: Number of rows of the batch.
        run: Id of the run.
        metrics: Metrics of the source.
    """
    time = (START + timedelta(seconds=at)).isoformat(timespec="milliseconds")
    return {
        "runId": run,
        "batchId": batch,
        "timestamp": time.replace("+00:00", "Z"),
        "durationMs": {"triggerExecution": int(took * 1000)},
        "sources": [
            {
                "numInputRows": rows,
                "metrics": {"position": "p", **{k: str(v) for k, v in metrics.items()}},
            }
        ],
    }
