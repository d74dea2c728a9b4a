# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Options of Splice, as the JVM declares them.

``splice.reference.ReferencePages`` generates ``options.json`` from the declarations of the JVM, and
a test of the JVM fails if the file differs from the declarations.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

_KAFKA = "Kafka"
_LEG = "Each leg of a hybrid source"
_CHAIN = ("Hybrid source", _LEG)


@lru_cache(maxsize=1)
def _sets() -> dict[str, dict[str, dict[str, str]]]:
    sets: dict[str, dict[str, dict[str, str]]] = json.loads(
        Path(__file__).with_name("options.json").read_text("utf-8")
    )
    return sets


def words(option: str, title: str = _LEG) -> tuple[str, ...]:
    """Return the allowed words of an option, in their order."""
    return tuple(_sets()[title][option]["allowed"].split(", "))


@lru_cache(maxsize=1)
def chain_options() -> tuple[str, ...]:
    """Return the options of a hybrid source and its builder, which no source of a leg has."""
    others = {name for title, options in _sets().items() if title not in _CHAIN for name in options}
    others.discard("source")
    listed = ["source", *(name for title in _CHAIN for name in _sets()[title])]
    return tuple(name for name in listed if "." not in name and name not in others)


@lru_cache(maxsize=1)
def starting() -> tuple[str, ...]:
    """Return the options that set the start of a Kafka source."""
    return tuple(
        name
        for name in _sets()[_KAFKA]
        if (name.startswith("starting") and not name.endswith("Strategy"))
        or name == "onNoCommittedOffset"
    )


@lru_cache(maxsize=1)
def ending() -> tuple[str, ...]:
    """Return the options that set the end of a Kafka source, so that the source is bounded."""
    return tuple(name for name in _sets()[_KAFKA] if name.startswith("ending"))


def committed_policies() -> tuple[str, ...]:
    """Return the values of the policy for a partition without a committed offset."""
    return words("onNoCommittedOffset", _KAFKA)


def takes_milliseconds(option: str) -> bool:
    """Return True for an option whose times are milliseconds since 1970 in UTC."""
    return _allowed(option).startswith("milliseconds since")


def takes_json_array(option: str) -> bool:
    """Return True for an option whose list is a JSON array, not text with commas."""
    return _allowed(option).startswith("a JSON array")


def _allowed(option: str) -> str:
    """Return the allowed values of an option, also with a leg, cluster or stream as prefix."""
    name = option.lower()
    last = name.rpartition(".")[2]
    return next((text for known, text in _all() if known in (name, last)), "")


@lru_cache(maxsize=1)
def _all() -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.lower(), option["allowed"]) for of in _sets().values() for name, option in of.items()
    )
