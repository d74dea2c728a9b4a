# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""What sources of Kafka's records have in common: a start, and maybe an end."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from splice.errors import OptionError
from splice.offsets import ENDING, STARTING, OffsetsArgument, offsets_of
from splice.source import Source, SourceBuilder

if TYPE_CHECKING:
    from typing_extensions import Self


class LogSource(Source):
    """The records of Kafka topics, of one cluster or of several."""

    @property
    def bounded(self) -> bool:
        """Whether an end was set."""
        return bool(self._options.named(*ENDING))

    @property
    def start_is_set(self) -> bool:
        """Whether a start was set, rather than left at its default or to a hand-over."""
        return bool(self._options.named(*STARTING))


BuiltLogSource = TypeVar("BuiltLogSource", bound=LogSource)


class LogSourceBuilder(SourceBuilder[BuiltLogSource]):
    """Collects the options of a source of Kafka's records."""

    def starting_offsets(self, start: OffsetsArgument) -> Self:
        """Fixes the start, on every cluster; by default a stream starts at the latest records.

        A batch starts at the earliest. A leg that starts by a hand-over takes no start.

        Args:
            start: ``"earliest"``, ``"latest"`` or an OffsetsInitializer.
        """
        options = offsets_of("starting_offsets", start).starting_options()
        self._options.discard(*STARTING)
        return self.options(**options)

    def _ending(self, name: str, end: OffsetsArgument) -> Self:
        options = offsets_of(name, end).ending_options()
        self._options.discard(*ENDING)
        return self.options(**options)

    def _exactly_one(self, names: tuple[str, ...], what: str, methods: str) -> None:
        given = self._options.named(*names)
        if len(given) != 1 or not self._options[given[0]].strip():
            said = ", ".join(f"'{name}'" for name in given) or "none"
            raise OptionError(
                f"A {what} needs exactly one of {', '.join(names)}, not empty; set here: {said}. "
                f"Use {methods}."
            )
