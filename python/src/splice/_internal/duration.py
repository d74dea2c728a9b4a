# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Durations as options write them."""

from __future__ import annotations

from datetime import timedelta

from splice.errors import OptionError

_MILLISECOND = timedelta(milliseconds=1)
_UNITS = (
    ("h", timedelta(hours=1)),
    ("m", timedelta(minutes=1)),
    ("s", timedelta(seconds=1)),
    ("ms", _MILLISECOND),
)


def interval(name: str, value: timedelta | str) -> str:
    """Write a duration such as ``10m``.

    Args:
        name: Name of the parameter, for the error.
        value: A timedelta, rounded up to milliseconds, or the text of the option. The source
            parses the text when a query loads it.

    Raises:
        OptionError: if the value is a negative timedelta, an empty text or of another type.
    """
    if isinstance(value, timedelta):
        if value < timedelta(0):
            raise _rejected(name, value, "is negative")
        rounded = -(-value // _MILLISECOND) * _MILLISECOND
        unit, size = next((u, s) for u, s in _UNITS if rounded % s == timedelta(0))
        return f"{rounded // size}{unit}"
    if not isinstance(value, str):
        raise _rejected(name, value, f"is of type {type(value).__name__}")
    if not value.strip():
        raise _rejected(name, value, "is not a duration")
    return value.strip()


def _rejected(name: str, value: object, reason: str) -> OptionError:
    return OptionError.of(
        "SPLICE_BUILDER.INVALID_DURATION", argument=name, value=repr(value), reason=reason
    )
