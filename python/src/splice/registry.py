# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The options of Splice, as the JVM declares them.

``options.json`` is made from the declarations of the JVM by ``splice.reference.ReferencePages``,
and a test of the JVM fails if the file differs from them.
"""

from __future__ import annotations

import json
from pathlib import Path

_SETS: dict[str, dict[str, dict[str, str]]] = json.loads(
    Path(__file__).with_name("options.json").read_text("utf-8")
)
_KAFKA = "Kafka"
_LEG = "Each leg of a hybrid source"
_CHAIN = ("Hybrid source", _LEG)


def _chain() -> tuple[str, ...]:
    others = {name for title, own in _SETS.items() if title not in _CHAIN for name in own}
    others.discard("source")
    known = ["source", *(name for title in _CHAIN for name in _SETS[title])]
    return tuple(name for name in known if "." not in name and name not in others)


def words(option: str, title: str = _LEG) -> tuple[str, ...]:
    """Return the allowed words of an option, in their order."""
    return tuple(_SETS[title][option]["allowed"].split(", "))


CHAIN_OPTIONS = _chain()
"""Options that belong to a hybrid source and its builder, never to the source of one leg."""

STARTING = tuple(
    name
    for name in _SETS[_KAFKA]
    if (name.startswith("starting") and not name.endswith("Strategy"))
    or name == "onNoCommittedOffset"
)
"""Every option that fixes the start of a Kafka source."""

ENDING = tuple(name for name in _SETS[_KAFKA] if name.startswith("ending"))
"""Every option that fixes the end of a Kafka source, and so makes it bounded."""

COMMITTED_POLICIES = words("onNoCommittedOffset", _KAFKA)
"""Values of the policy for a partition without a committed offset."""
