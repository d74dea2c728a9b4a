# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Options of a source as strings with case-insensitive names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from splice.errors import OptionError

OptionValue: TypeAlias = str | bool | int | float


def option_text(name: str, value: OptionValue) -> str:
    """Convert a value to text, as Spark's readers do.

    Raises:
        OptionError: if the value is not a string, a boolean or a number.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    raise OptionError.of(
        "SPLICE_BUILDER.INVALID_OPTION_VALUE", option=name, type=type(value).__name__
    )


class OptionMap(Mapping[str, str]):
    """Map of options with case-insensitive keys, which keeps the case and order of names.

    A name that differs only in case replaces the value, as in Spark's readers.
    """

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        """Create a map with a copy of options."""
        self._entries: dict[str, tuple[str, str]] = {}
        for name, value in (options or {}).items():
            self.set(name, value)

    def set(self, name: str, value: OptionValue) -> None:
        """Set an option. A name that differs only in case replaces the value."""
        if not isinstance(name, str) or not name.strip():
            raise OptionError.of("SPLICE_BUILDER.INVALID_OPTION_NAME", value=repr(name))
        self._entries[name.lower()] = (name, option_text(name, value))

    def discard(self, *names: str) -> None:
        """Remove options that are set."""
        for name in names:
            self._entries.pop(name.lower(), None)

    def named(self, *names: str) -> list[str]:
        """Return the names that are set, with the case in which they were set."""
        return [self._entries[n.lower()][0] for n in names if n.lower() in self._entries]

    def __getitem__(self, name: str) -> str:
        """Return the value of an option. The name is case-insensitive."""
        return self._entries[name.lower()][1]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names in the order in which they were set."""
        return (name for name, _ in self._entries.values())

    def __len__(self) -> int:
        """Return the number of options."""
        return len(self._entries)
