# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Options as Spark takes them: strings, whose names are found whatever their case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from splice.errors import OptionError

OptionValue: TypeAlias = str | bool | int | float


def option_text(name: str, value: OptionValue) -> str:
    """Turns a value into the text that Spark would make of it.

    Raises:
        OptionError: if the value is neither a string, a boolean nor a number.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    raise OptionError.of(
        "SPLICE_BUILDER.INVALID_OPTION_VALUE", option=name, type=type(value).__name__
    )


class OptionMap(Mapping[str, str]):
    """A map of options that keeps the case and order of its names and ignores case in look-ups.

    Setting a name again, in whatever case, replaces the value, as Spark's own readers do.
    """

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        """Copies the given options."""
        self._entries: dict[str, tuple[str, str]] = {}
        for name, value in (options or {}).items():
            self.set(name, value)

    def set(self, name: str, value: OptionValue) -> None:
        """Sets an option, replacing one whose name differs in case only."""
        if not isinstance(name, str) or not name.strip():
            raise OptionError.of("SPLICE_BUILDER.INVALID_OPTION_NAME", value=repr(name))
        self._entries[name.lower()] = (name, option_text(name, value))

    def discard(self, *names: str) -> None:
        """Removes the named options, if they are there."""
        for name in names:
            self._entries.pop(name.lower(), None)

    def named(self, *names: str) -> list[str]:
        """Gives those of the names that are set, spelled as they were set."""
        return [self._entries[n.lower()][0] for n in names if n.lower() in self._entries]

    def __getitem__(self, name: str) -> str:
        """Gives the value of an option, whatever the case of its name."""
        return self._entries[name.lower()][1]

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names as they were set, oldest first."""
        return (name for name, _ in self._entries.values())

    def __len__(self) -> int:
        """Counts the options."""
        return len(self._entries)
