# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Parser of seeds."""

from __future__ import annotations


def parse(text: str) -> list[int]:
    """Parse seeds such as ``1..200`` or ``3,7,20..29``, in order and without duplicates.

    Raises:
        ValueError: if the text has another format.
    """
    found: dict[int, None] = {}
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        if not first.isdigit() or (dots and not last.isdigit()):
            raise ValueError(f"'{part}' in '{text}' is not a valid seed or range: use 7 or 1..200")
        numbers = range(int(first), int(last or first) + 1)
        if not numbers:
            raise ValueError(f"'{part}' in '{text}' ends before it begins")
        found |= dict.fromkeys(numbers)
    return list(found)
