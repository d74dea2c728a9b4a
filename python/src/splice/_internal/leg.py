# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Leg of a hybrid source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from splice._internal.registry import words
from splice.errors import OptionError
from splice.hand_over import HandOver
from splice.source import SourceSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

LegSelects: TypeAlias = str | tuple["str | None", "str | None"] | Mapping[str, str] | None
"""SELECT list of two legs, a pair of lists, or lists by the name of the leg."""

LogColumns: TypeAlias = Mapping[str, str] | str
"""Columns that identify records of the log, or ``"none"``."""

LegColumns: TypeAlias = LogColumns | tuple["LogColumns | None", "LogColumns | None"] | None
"""Log columns of the first leg, or of two legs."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

_POLICIES = {
    "on_holes": "onHoles",
    "on_gap": "onGap",
    "on_duplicates": "onDuplicates",
}
"""The policies of a hand-over: argument and option."""

_KEYS = ("topic", "partition", "offset")
_EXAMPLE = "{'topic': 't', 'partition': 'p', 'offset': 'o'}"


@dataclass(frozen=True)
class Leg:
    """Named source in a chain, with its hand-over and its SELECT list.

    Attributes:
        policies: Values of the policies of the hand-over, by argument; ``None`` is the default.
        log_columns: Columns that identify records of the log, or ``"none"``.
    """

    name: str
    source: SourceSpec
    hand_over: HandOver | None = None
    select: str | None = None
    policies: Mapping[str, str | None] = field(default_factory=dict)
    log_columns: Mapping[str, str] | str | None = None

    def __post_init__(self) -> None:
        """Check the arguments of this leg, without the other legs.

        Raises:
            OptionError: with the name of the leg.
        """
        # A later change of the caller's dictionary must not change this leg.
        object.__setattr__(self, "policies", dict(self.policies))
        if isinstance(self.log_columns, Mapping):
            object.__setattr__(self, "log_columns", dict(self.log_columns))
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise OptionError.of("SPLICE_BUILDER.INVALID_LEG_NAME", value=repr(self.name))
        if not isinstance(self.source, SourceSpec):
            raise OptionError.of(
                "SPLICE_BUILDER.INVALID_SOURCE", leg=self.name, type=type(self.source).__name__
            )
        if self.select is not None and not (isinstance(self.select, str) and self.select.strip()):
            raise OptionError.of(
                "SPLICE_BUILDER.INVALID_SELECT", leg=self.name, value=repr(self.select)
            )
        if self.hand_over is not None and not isinstance(self.hand_over, HandOver):
            raise OptionError.of(
                "SPLICE_BUILDER.INVALID_HAND_OVER", leg=self.name, value=repr(self.hand_over)
            )

        for argument, value in self.policies.items():
            self._check_policy(argument, value)
        reason = self._wrong_log_columns()
        if reason is not None:
            raise OptionError.of(
                "SPLICE_BUILDER.INVALID_LOG_COLUMNS",
                leg=self.name,
                value=repr(self.log_columns),
                reason=reason,
                example=_EXAMPLE,
            )

    def _wrong_log_columns(self) -> str | None:
        columns = self.log_columns
        if columns is None or columns == "none":
            return None
        if not isinstance(columns, Mapping):
            return "the value is not a mapping"
        unknown = [key for key in columns if key not in _KEYS]
        if unknown:
            return f"{unknown[0]!r} is not one of {', '.join(_KEYS)}"
        missing = [key for key in _KEYS[1:] if key not in columns]
        if missing:
            return f"'{missing[0]}' is missing"
        for key, name in columns.items():
            if not isinstance(name, str) or not name.strip():
                return f"'{key}' does not name a column"
        if len(set(columns.values())) < len(columns):
            return "two keys have the same column"
        return None

    def _check_policy(self, argument: str, value: str | None) -> None:
        allowed = words(_POLICIES[argument])
        if value is not None and value not in allowed:
            raise OptionError.of(
                "SPLICE_BUILDER.INVALID_POLICY",
                argument=argument,
                leg=self.name,
                value=repr(value),
                allowed=_either(allowed),
            )
        if value is not None and self.hand_over is None:
            raise OptionError.of(
                "SPLICE_BUILDER.POLICY_WITHOUT_HAND_OVER", argument=argument, leg=self.name
            )

    def options(self) -> dict[str, str]:
        """Return the options of this leg, each with the name of the leg as prefix."""
        options = self.source.options()
        if self.hand_over is not None:
            options |= self.hand_over.options()
        if self.select is not None:
            options["select"] = self.select
        options |= {_POLICIES[k]: value for k, value in self.policies.items() if value is not None}
        if isinstance(self.log_columns, Mapping):
            options["logColumns"] = json.dumps(dict(self.log_columns), ensure_ascii=False)
        elif self.log_columns is not None:
            options["logColumns"] = self.log_columns
        return {f"{self.name}.{option}": value for option, value in options.items()}


def leg_names(names: object) -> tuple[str, str]:
    """Return the names of two legs.

    Raises:
        OptionError: if the value is not a pair.
    """
    if isinstance(names, str) or not _is_pair(names):
        raise OptionError.of("SPLICE_BUILDER.INVALID_LEG_NAMES", value=repr(names))
    return names[0], names[1]


def leg_selects(names: tuple[str, str], given: LegSelects) -> tuple[str | None, str | None]:
    """Return the SELECT lists of two legs.

    Raises:
        OptionError: if the value is neither a text, nor a tuple of two SELECT lists, nor a mapping
            with these names.
    """
    if given is None or isinstance(given, str):
        return given, given
    if isinstance(given, Mapping) and set(given) <= set(names):
        return given.get(names[0]), given.get(names[1])
    # A list may be a list of columns, so only a tuple is a pair.
    if isinstance(given, tuple) and len(given) == 2:
        return given
    raise OptionError.of(
        "SPLICE_BUILDER.INVALID_LEG_SELECT",
        value=repr(given),
        legs=" and ".join(f"'{name}'" for name in names),
    )


def leg_columns(given: LegColumns) -> tuple[LogColumns | None, LogColumns | None]:
    """Return the log columns of two legs. A single value belongs to the first leg."""
    return given if isinstance(given, tuple) and _is_pair(given) else (given, None)  # type: ignore[return-value]


def _is_pair(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, (tuple, list)) and len(value) == 2


def _either(values: Sequence[str]) -> str:
    quoted = [f"'{value}'" for value in values]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
