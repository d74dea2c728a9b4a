# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Which seeds to run."""

from __future__ import annotations


def parse(text: str) -> list[int]:
    """Reads seeds written like ``1..200`` or ``3,7,20..29``, in that order, each once.

    Raises:
        ValueError: if the text says anything else.
    """
    found: dict[int, None] = {}
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        if not first.isdigit() or (dots and not last.isdigit()):
            raise ValueError(f"'{part}' in '{text}' is no seed and no range: write 7 or 1..200")
        numbers = range(int(first), int(last or first) + 1)
        if not numbers:
            raise ValueError(f"'{part}' in '{text}' ends before it begins")
        found |= dict.fromkeys(numbers)
    return list(found)
