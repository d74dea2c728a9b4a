# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Sources read one after another as a single one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from splice.errors import OptionError
from splice.files import FileSource
from splice.leg import Leg
from splice.log_source import LogSource
from splice.source import SourceBuilder, SourceSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from splice.hand_over import HandOver


class HybridSource(SourceSpec):
    """A chain of named sources: each is read to its end, then the next takes over (FLIP-150)."""

    kind = "hybrid"

    def __init__(self, options: dict[str, str], legs: Sequence[Leg]) -> None:
        """Takes checked options; use a builder instead."""
        super().__init__(options)
        self._legs = tuple(legs)

    @property
    def bounded(self) -> bool:
        """Whether the last leg is bounded."""
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
        """Begins a chain with its first leg, which starts where its source says.

        Args:
            name: Names the leg: letters, digits and underscores, unique in the chain.
            source: A bounded source.
            select: A SELECT list of deterministic row expressions over the source's columns; by
                default all of them. Every leg must come to the same columns.
            log_columns: The same as for :meth:`HybridSourceBuilder.add_source`.
        """
        return HybridSourceBuilder(Leg(name, source, None, select, log_columns=log_columns))


class HybridSourceBuilder(SourceBuilder[HybridSource]):
    """Builds a HybridSource.

    Its own options are those of the whole chain, such as ``schema``.
    """

    def __init__(self, first: Leg) -> None:
        """Takes the first leg; use ``HybridSource.builder``."""
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
        """Adds a leg that takes over when the one before has ended.

        Args:
            name: Names the leg: letters, digits and underscores, unique in the chain.
            source: A source; bounded unless it is the last.
            hand_over: Where the leg starts. By default it starts where its source says; a source
                with a start of its own takes no hand-over.
            select: A SELECT list of deterministic row expressions over the source's columns; by
                default all of them.
            on_holes: With ``HandOver.offsets``: what to do about offsets before the end of the
                history that no leg before has. ``fill`` (default) reads them from the log,
                ``fail`` stops the query, ``ignore`` continues without them, as compacted and
                transactional topics need it.
            on_gap: What to do about records that neither the legs before nor the log have any
                more: ``fail`` (default) or ``warn``.
            on_duplicates: With ``HandOver.offsets``: what to do about records that the legs before
                have several times: ``fail`` (default) or ``warn``.
            log_columns: For a leg before a ``HandOver.offsets``: the columns of this leg that name
                the record of the log, such as ``{"topic": "t", "partition": "p", "offset": "o"}``;
                ``timestamp`` and ``key`` may be added. By default they are the columns of the
                hand-over. ``"none"`` excludes the leg from the hand-over. The columns are those of
                the source, before ``select``.
        """
        policies = {"on_holes": on_holes, "on_gap": on_gap, "on_duplicates": on_duplicates}
        self._legs.append(Leg(name, source, hand_over, select, policies, log_columns))
        return self

    def _make(self) -> HybridSource:
        for leg in self._legs:
            leg.check()
        self._refuse_chain_options([leg.name for leg in self._legs])
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
            raise OptionError.of("SPLICE_BUILDER.DUPLICATE_LEG_NAME", other=other, leg=leg.name)
        seen[leg.name.lower()] = leg.name
        if isinstance(leg.source, HybridSource):
            raise OptionError.of("SPLICE_BUILDER.NESTED_HYBRID", leg=leg.name)


def _check_end(leg: Leg, after: Leg) -> None:
    if not leg.source.bounded:
        raise OptionError.of("SPLICE_BUILDER.UNBOUNDED_LEG", leg=leg.name, after=after.name)


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
            "SPLICE_BUILDER.MODIFICATION_TIME_NOT_FOUND", leg=leg.name, before=before.name
        )
