# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Offsets in progress reports."""

from __future__ import annotations

import ast
import json


def offset_json(offset: object) -> str | None:
    """Return the offset of a report as JSON; other text unchanged; None for no offset.

    Some versions of PySpark return the text of a Python dict, or a dict, instead of JSON.
    """
    if offset is None:
        return None
    if not isinstance(offset, str):
        return _compact(offset)
    try:
        json.loads(offset)
    except ValueError:
        pass
    else:
        return offset
    try:
        found = ast.literal_eval(offset)
        return None if found is None else _compact(found)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return offset


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
