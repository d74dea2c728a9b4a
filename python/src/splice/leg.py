# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Leg of a hybrid source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from splice.errors import OptionError
from splice.hand_over import HandOver
from splice.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

_POLICIES = {
    "on_holes": ("onHoles", ("fill", "fail", "ignore")),
    "on_gap": ("onGap", ("fail", "warn")),
    "on_duplicates": ("onDuplicates", ("fail", "warn")),
}
"""Policies of a hand-over: argument, option and values."""

_NEEDED = ("topic", "partition", "offset")
_COLUMNS = (*_NEEDED, "timestamp", "key")
_EXAMPLE = "{'topic': 't', 'partition': 'p', 'offset': 'o'}"


@dataclass(frozen=True)
class Leg:
    """Named source in a chain, with its hand-over and its SELECT list.

    Attributes:
        policies: Values of the policies of the hand-over, by argument; ``None`` is the default.
        log_columns: Columns that identify records of the log, or ``"none"``.
    """

    name: str
    source: Source
    hand_over: HandOver | None = None
    select: str | None = None
    policies: Mapping[str, str | None] = field(default_factory=dict)
    log_columns: Mapping[str, str] | str | None = None

    def check(self) -> None:
        """Check the arguments of this leg, without the other legs.

        Raises:
            OptionError: with the name of the leg.
        """
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise OptionError(
                f"{self.name!r} is not a valid leg name, because the name is part of option names. "
                "Use letters, digits and underscores, and begin with a letter."
            )
        if not isinstance(self.source, Source):
            raise OptionError(
                f"Leg '{self.name}' is a {type(self.source).__name__}, which is not a source. "
                "Pass the result of build() of a source builder, such as FileSource.builder(...)."
            )
        if self.select is not None and not (isinstance(self.select, str) and self.select.strip()):
            raise OptionError(
                f"'select' of leg '{self.name}' is {self.select!r}. Set a SELECT list such as "
                "'id, CAST(value AS STRING) AS text', or omit select to keep all columns."
            )
        if self.hand_over is not None and not isinstance(self.hand_over, HandOver):
            raise OptionError(
                f"'hand_over' of leg '{self.name}' is {self.hand_over!r}, which is not a rule. Use "
                "HandOver.offsets(), event_time(...), modification_time(...), now_minus(...) or "
                "custom(...)."
            )

        for argument, value in self.policies.items():
            self._check_policy(argument, value)
        why = self._wrong_log_columns()
        if why is not None:
            raise OptionError(
                f"'log_columns' of leg '{self.name}' is {self.log_columns!r}: {why}. Set a "
                f"mapping to the names of columns, such as {_EXAMPLE}, or 'none'."
            )

    def _wrong_log_columns(self) -> str | None:
        columns = self.log_columns
        if columns is None or columns == "none":
            return None
        if not isinstance(columns, Mapping):
            return "it is not a mapping"
        strange = [key for key in columns if key not in _COLUMNS]
        if strange:
            return f"{strange[0]!r} is not one of {', '.join(_COLUMNS)}"
        missing = [key for key in _NEEDED if key not in columns]
        if missing:
            return f"'{missing[0]}' is missing"
        for key, name in columns.items():
            if not isinstance(name, str) or not name.strip():
                return f"'{key}' does not name a column"
        if len(set(columns.values())) < len(columns):
            return "two keys have the same column"
        return None

    def _check_policy(self, argument: str, value: str | None) -> None:
        allowed = _POLICIES[argument][1]
        if value is not None and value not in allowed:
            raise OptionError(
                f"'{argument}' of leg '{self.name}' is {value!r}. Set {_either(allowed)}."
            )
        if value is not None and self.hand_over is None:
            raise OptionError(
                f"'{argument}' of leg '{self.name}' is a policy of a hand-over, and the leg has "
                "no hand-over. Set hand_over, or remove the policy."
            )

    def options(self) -> dict[str, str]:
        """Return the options of this leg, each with the name of the leg as prefix."""
        own = self.source.options()
        if self.hand_over is not None:
            own |= self.hand_over.options()
        if self.select is not None:
            own["select"] = self.select
        own |= {_POLICIES[k][0]: value for k, value in self.policies.items() if value is not None}
        if isinstance(self.log_columns, Mapping):
            own["logColumns"] = json.dumps(dict(self.log_columns), ensure_ascii=False)
        elif self.log_columns is not None:
            own["logColumns"] = self.log_columns
        return {f"{self.name}.{option}": value for option, value in own.items()}


def _either(values: Sequence[str]) -> str:
    quoted = [f"'{value}'" for value in values]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
