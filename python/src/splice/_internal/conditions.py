# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Conditions of the errors that this package raises, in the format of PySpark."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_DECLARED = Path(__file__).with_name("error-conditions.json")


@lru_cache(maxsize=1)
def _areas() -> dict[str, Any]:
    areas: dict[str, Any] = json.loads(_DECLARED.read_text("utf-8"))
    return areas


def details(condition: str, parameters: Mapping[str, object]) -> tuple[str, dict[str, str], str]:
    """Return the message of a condition, the texts of its parameters, and its SQLSTATE."""
    area, _, name = condition.partition(".")
    template = " ".join(_areas()[area]["subClass"][name]["message"])
    texts = {key: str(value) for key, value in parameters.items()}
    # One pass, because a value may contain the name of another parameter.
    text = re.sub(r"<(\w+)>", lambda found: texts[found.group(1)], template)
    state: str = _areas()[area]["sqlState"]
    return f"[{condition}] {text} SQLSTATE: {state}", texts, state
