# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A custom hand-over rule that records each of its calls in a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from splice import HandOver


def counted_rule(notes: Path) -> HandOver:
    """Return a rule that starts each partition at the end of the history."""

    def after_the_history(evidence: dict[str, Any]) -> dict[str, Any]:
        starts: dict[str, dict[str, int]] = {}
        for one in evidence["offsets"]:
            starts.setdefault(one["topic"], {})[str(one["partition"])] = one["until"]
        with notes.open("a") as file:
            file.write(json.dumps(starts) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return {"offsets": starts}

    return HandOver.custom(after_the_history, topic="topic", partition="partition", offset="offset")


def results(notes: Path) -> list[dict[str, dict[str, int]]]:
    """Return the result of each call."""
    return [json.loads(line) for line in notes.read_text().splitlines()]
