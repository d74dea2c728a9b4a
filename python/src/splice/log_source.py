# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Base classes of the Kafka sources, with a start and an optional end."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from splice.errors import OptionError
from splice.offsets import ENDING, STARTING, OffsetsArgument, offsets_of
from splice.source import Source, SourceBuilder

if TYPE_CHECKING:
    from typing_extensions import Self


class LogSource(Source):
    """Source of Kafka topics on one or several clusters."""

    @property
    def bounded(self) -> bool:
        """True if an option sets an end."""
        return bool(self._options.named(*ENDING))

    @property
    def start_is_set(self) -> bool:
        """True if an option sets a start."""
        return bool(self._options.named(*STARTING))


BuiltLogSource = TypeVar("BuiltLogSource", bound=LogSource)


class LogSourceBuilder(SourceBuilder[BuiltLogSource]):
    """Base class of the builders of Kafka sources."""

    def starting_offsets(self, start: OffsetsArgument) -> Self:
        """Set the start on every cluster.

        The default is latest for a stream and earliest for a batch. A leg with a hand-over
        accepts no start.

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
            listed = ", ".join(f"'{name}'" for name in given) or "none"
            raise OptionError(
                f"A {what} needs exactly one of {', '.join(names)}, not empty. Set "
                f"options: {listed}. Use {methods}."
            )
