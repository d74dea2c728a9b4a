# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Output of the demo."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

_PATIENCE = 5


class Teller:
    """Printer of lines with the seconds since the start."""

    def __init__(self) -> None:
        """Start the clock."""
        self._began = time.monotonic()
        self._shown = ("", self._began)

    def say(self, text: str) -> None:
        """Print a line."""
        print(f"{time.monotonic() - self._began:6.1f} s  {text}", flush=True)

    def progress(self, rows: int, report: Mapping[str, Any] | None) -> None:
        """Print the position of the query, less often if the position does not change.

        Without a report, the driver is still starting.
        """
        text = f"  {rows:>9,} rows in the sink, {_standing(report) if report else 'starting'}"
        before, at = self._shown
        if text != before or time.monotonic() > at + _PATIENCE:
            self._shown = (text, time.monotonic())
            self.say(text)

    def switch(self, topic: str, last: Mapping[int, int], first: Mapping[int, int]) -> None:
        """Print the end of the history and the start of the live leg, per partition."""
        self.say("the switch, per partition: the history's last offset -> the live leg's first")
        for partition in sorted(first):
            self.say(f"  {topic}-{partition}: {last.get(partition, -1)} -> {first[partition]}")


def _standing(report: Mapping[str, Any]) -> str:
    metrics = report["sources"][0].get("metrics") or {}
    behind = metrics.get("rowsBehind")
    text = f"batch {report['batchId']:>3}, leg {metrics.get('leg', '-')}"
    return f"{text}, {int(behind):,} rows behind" if behind else text
