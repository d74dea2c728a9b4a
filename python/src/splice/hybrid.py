# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source that reads a chain of sources in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from splice._internal.leg import Leg
from splice._internal.log_source import LogSource
from splice.errors import OptionError
from splice.files import FileSource
from splice.source import SourceBuilder, SourceSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from splice.hand_over import HandOver


class HybridSource(SourceSpec):
    """Chain of named legs. Each leg starts after the end of the previous leg (FLIP-150)."""

    kind = "hybrid"

    def __init__(self, options: dict[str, str], legs: Sequence[Leg]) -> None:
        """Create a source with checked options; use a builder instead."""
        super().__init__(options)
        self._legs = tuple(legs)

    @property
    def bounded(self) -> bool:
        """True if the last leg is bounded."""
        return self._legs[-1].source.bounded

    def _prepare(self) -> None:
        for leg in self._legs:
            leg.source._prepare()
            if leg.hand_over is not None:
                leg.hand_over.prepare()

    @staticmethod
    def builder(
        name: str,
        source: SourceSpec,
        select: str | None = None,
        *,
        log_columns: Mapping[str, str] | str | None = None,
    ) -> HybridSourceBuilder:
        """Return a builder with the first leg, which begins at the start of its source.

        Args:
            name: Name of the leg: letters, digits and underscores, unique in the chain.
            source: A bounded source.
            select: SELECT list of deterministic row expressions over the source's columns. The
                default is all columns. Every leg must result in the same columns.
            log_columns: The same as for :meth:`HybridSourceBuilder.add_source`.
        """
        return HybridSourceBuilder(Leg(name, source, None, select, log_columns=log_columns))


class HybridSourceBuilder(SourceBuilder[HybridSource]):
    """Builder of a HybridSource. Options of the builder apply to the whole chain."""

    def __init__(self, first: Leg) -> None:
        """Create a builder with the first leg; use ``HybridSource.builder`` instead."""
        super().__init__()
        self._legs = [first]

    def add_source(
        self,
        name: str,
        source: SourceSpec,
        hand_over: HandOver | None = None,
        select: str | None = None,
        *,
        on_holes: str | None = None,
        on_gap: str | None = None,
        on_duplicates: str | None = None,
        log_columns: Mapping[str, str] | str | None = None,
    ) -> HybridSourceBuilder:
        """Add a leg that begins when the previous leg has ended.

        Args:
            name: Name of the leg: letters, digits and underscores, unique in the chain.
            source: A source. A source other than the last source must be bounded.
            hand_over: Rule for the start of the leg. The default is the start of the source. A
                source with an explicit start accepts no hand-over.
            select: SELECT list of deterministic row expressions over the source's columns. The
                default is all columns.
            on_holes: With ``HandOver.offsets``: policy for offsets before the end of the history
                that no previous leg has. ``fill`` (default) reads these offsets from the log,
                ``fail`` stops the query, and ``ignore`` continues without the offsets. Use
                ``ignore`` for compacted and transactional topics.
            on_gap: Policy for records that neither the previous legs nor the log has:
                ``fail`` (default) or ``warn``.
            on_duplicates: With ``HandOver.offsets``: policy for records that the previous legs
                have several times: ``fail`` (default) or ``warn``.
            log_columns: For a leg before a ``HandOver.offsets``: the columns of this leg that
                identify the record of the log. Example:
                ``{"topic": "t", "partition": "p", "offset": "o"}``. The keys ``timestamp`` and
                ``key`` may be added. The default is the columns of the hand-over. ``"none"``
                excludes the leg from the hand-over. The names are columns of the source before
                ``select``.
        """
        policies = {"on_holes": on_holes, "on_gap": on_gap, "on_duplicates": on_duplicates}
        self._legs.append(Leg(name, source, hand_over, select, policies, log_columns))
        return self

    def _make(self) -> HybridSource:
        for leg in self._legs:
            leg.check()
        self._reject_chain_options([leg.name for leg in self._legs])
        _check_names(self._legs)
        for before, leg in zip(self._legs, self._legs[1:], strict=False):
            _check_end(before, leg)
            _check_hand_over(before, leg)
        options = {"legs": ",".join(leg.name for leg in self._legs), **self._options}
        for leg in self._legs:
            options |= leg.options()
        return HybridSource(options, self._legs)


def _check_names(legs: Sequence[Leg]) -> None:
    seen: dict[str, str] = {}
    for leg in legs:
        other = seen.get(leg.name.lower())
        if other is not None:
            raise OptionError.of(
                "SPLICE_BUILDER.DUPLICATE_LEG_NAME", previousLeg=other, leg=leg.name
            )
        seen[leg.name.lower()] = leg.name
        if isinstance(leg.source, HybridSource):
            raise OptionError.of("SPLICE_BUILDER.NESTED_HYBRID", leg=leg.name)


def _check_end(leg: Leg, after: Leg) -> None:
    if not leg.source.bounded:
        raise OptionError.of("SPLICE_BUILDER.UNBOUNDED_LEG", leg=leg.name, nextLeg=after.name)


def _check_hand_over(before: Leg, leg: Leg) -> None:
    rule = leg.hand_over
    if rule is None:
        return
    if isinstance(leg.source, FileSource):
        raise OptionError.of("SPLICE_BUILDER.HAND_OVER_NOT_SUPPORTED", leg=leg.name, rule=rule.kind)
    if isinstance(leg.source, LogSource) and leg.source._start_is_set:
        raise OptionError.of("SPLICE_BUILDER.DUPLICATE_START", leg=leg.name, rule=rule.kind)
    if rule.kind == "modificationTime" and not isinstance(before.source, FileSource):
        raise OptionError.of(
            "SPLICE_BUILDER.MODIFICATION_TIME_NOT_FOUND", leg=leg.name, previousLeg=before.name
        )
