# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Options of a source as strings with case-insensitive names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from splice._internal.values import OptionValue, option_text
from splice.errors import OptionError


class OptionMap(Mapping[str, str]):
    """Immutable map of options with case-insensitive keys, which keeps the case of names.

    A name that differs only in case replaces the value, as in Spark's readers.
    """

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Create a map with the texts of values.

        Raises:
            OptionError: if a name or a value is invalid.
        """
        self._entries: dict[str, tuple[str, str]] = {}
        for name, value in (options or {}).items():
            if not isinstance(name, str) or not name.strip():
                raise OptionError.of("SPLICE_BUILDER.INVALID_OPTION_NAME", value=repr(name))
            self._entries[name.lower()] = (name, option_text(name, value))

    def updated(self, options: Mapping[str, OptionValue], without: Iterable[str] = ()) -> OptionMap:
        """Return a map without some options, and with the given values of other options."""
        changed = OptionMap()
        removed = {name.lower() for name in without}
        changed._entries = {k: v for k, v in self._entries.items() if k not in removed}
        changed._entries |= OptionMap(options)._entries
        return changed

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
