# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Base classes of the Kafka sources, with a start and an optional end."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from splice._internal.registry import ending, starting
from splice.errors import OptionError
from splice.offsets import OffsetsArgument, offsets_of
from splice.source import SourceBuilder, SourceSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from splice._internal.option_map import OptionValue


class LogSource(SourceSpec):
    """Source of Kafka topics on one or several clusters."""

    @property
    def bounded(self) -> bool:
        """True if an option sets an end."""
        return bool(self._options.named(*ending()))

    @property
    def _start_is_set(self) -> bool:
        """True if an option sets a start."""
        return bool(self._options.named(*starting()))


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
        options = offsets_of("starting_offsets", start)._starting_options()
        self._options.discard(*starting())
        return self.options(options)

    def ending_offsets(self, end: OffsetsArgument) -> Self:
        """Set the end on every cluster, so that the source is bounded.

        By default, the source has no end.

        Args:
            end: ``"latest"`` or an OffsetsInitializer other than earliest and committed.
        """
        options = offsets_of("ending_offsets", end)._ending_options()
        self._options.discard(*ending())
        return self.options(options)

    def commit_to_group(self, group: str) -> Self:
        """Commit the offsets of committed batches to a consumer group on every cluster.

        Tools that show lag read the offsets of the group. These offsets are never ahead of the
        checkpoint. The query begins at these offsets only if its start is
        ``OffsetsInitializer.committed()``.

        Args:
            group: The id of the group, the option ``kafka.group.id``.
        """
        if not isinstance(group, str) or not group.strip():
            raise OptionError.of("SPLICE_BUILDER.INVALID_GROUP", value=repr(group))
        return self.option("kafka.group.id", group).option("commitToGroup", True)

    def properties(self, properties: Mapping[str, OptionValue]) -> Self:
        """Sets properties of the Kafka client, on every cluster, by Kafka's names.

        Args:
            properties: Names such as ``security.protocol``, without ``kafka.``, and values.
        """
        return self.options({f"kafka.{name}": value for name, value in properties.items()})

    def _exactly_one(self, names: tuple[str, ...], what: str, methods: str) -> None:
        given = self._options.named(*names)
        if len(given) != 1 or not self._options[given[0]].strip():
            selected = ", ".join(f"'{name}'" for name in given) or "none"
            raise OptionError.of(
                "SPLICE_BUILDER.AMBIGUOUS_SELECTION",
                source=what,
                options=", ".join(names),
                found=selected,
                methods=methods,
            )
