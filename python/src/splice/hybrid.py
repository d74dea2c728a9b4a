# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Source that reads a chain of sources in order."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from splice._internal.display import sources
from splice._internal.leg import Leg, leg_columns, leg_names, leg_selects
from splice._internal.log_source import LogSource
from splice._internal.option_map import OptionMap
from splice._internal.registry import ending
from splice.errors import OptionError
from splice.files import FileSource
from splice.source import SourceBuilder, SourceSpec
from splice.tables import TableSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from splice._internal.leg import LegColumns, LegSelects, LogColumns
    from splice.hand_over import HandOver

_STORED = (FileSource, TableSource)


class HybridSource(SourceSpec):
    """Chain of named legs. Each leg starts after the end of the previous leg (FLIP-150).

    The text of a chain is a tree of its legs, and a notebook shows a table. The text and the table
    hide secret values.

    Examples:
        >>> orders
        HybridSource
        ├─ history  files  parquet  /lake/orders  select order_id, amount
        └─ live     kafka  orders @ broker:9092   select CAST(key AS STRING) AS order_id, value...
             ↳ hand-over: offsets
             ↳ options: valueFormat='json', valueSchema='amount DOUBLE'
        >>> orders.read(spark).select("_leg").distinct().count()
        2
    """

    kind = "hybrid"

    def __init__(
        self, options: Mapping[str, str], legs: Sequence[Leg], of_chain: Mapping[str, str]
    ) -> None:
        """Create a source with checked options; use a builder or ``then`` instead."""
        super().__init__(options)
        self._legs = tuple(legs)
        self._of_chain = OptionMap(of_chain)

    @property
    def bounded(self) -> bool:
        """True if the last leg is bounded."""
        return _is_bounded(self._legs[-1], self._of_chain)

    def then(  # type: ignore[override]
        self,
        following: SourceSpec,
        name: str,
        *,
        hand_over: HandOver | None = None,
        select: str | None = None,
        on_holes: str | None = None,
        on_gap: str | None = None,
        on_duplicates: str | None = None,
        log_columns: LogColumns | None = None,
    ) -> HybridSource:
        """Return a chain with one more leg, which begins when the last leg has ended.

        The name has no default value, because each leg of a chain needs a different name.

        Args:
            following: The source of the leg. The last leg of this chain must be bounded.
            name: Name of the leg: letters, digits and underscores, unique in the chain.
            hand_over: The same as for :meth:`HybridSourceBuilder.add_source`, like all following
                arguments.
            select: SELECT list of the leg.
            on_holes: Policy for missing offsets of the history.
            on_gap: Policy for records that neither the history nor the log has.
            on_duplicates: Policy for records that the history has several times.
            log_columns: Columns of the leg that identify the record of the log. Without the key
                ``topic``, all rows belong to the only topic of the log.

        Raises:
            OptionError: if an argument is invalid, or the legs do not fit together.

        Examples:
            >>> chain = history.then(history, names=("old", "new")).then(
            ...     live, "live", hand_over=HandOver.offsets(), on_duplicates="warn"
            ... )
            >>> chain.options()["legs"]
            'old,new,live'
        """
        builder = HybridSourceBuilder(*self._legs).options(self._of_chain)
        return builder.add_source(
            name,
            following,
            hand_over,
            select,
            on_holes=on_holes,
            on_gap=on_gap,
            on_duplicates=on_duplicates,
            log_columns=log_columns,
        ).build()

    def _prepare(self) -> None:
        for leg in self._legs:
            leg.source._prepare()
            if leg.hand_over is not None:
                leg.hand_over.prepare()

    def __repr__(self) -> str:
        """Return the legs as a tree, with secret values hidden."""
        return sources.tree(type(self).__name__, self._legs, self._of_chain)

    def _repr_html_(self) -> str:
        """Return the legs as an HTML table for notebooks, with secret values hidden."""
        return sources.chain_html(type(self).__name__, self._legs, self._of_chain)

    @staticmethod
    def builder(
        name: str,
        source: SourceSpec,
        select: str | None = None,
        *,
        log_columns: LogColumns | None = None,
    ) -> HybridSourceBuilder:
        """Return a builder with the first leg, which begins at the start of its source.

        Args:
            name: Name of the leg: letters, digits and underscores, unique in the chain.
            source: A bounded source.
            select: SELECT list of deterministic row expressions over the source's columns. The
                default is all columns. Every leg must result in the same columns.
            log_columns: The same as for :meth:`HybridSourceBuilder.add_source`.

        Raises:
            OptionError: if an argument is invalid.

        Examples:
            >>> HybridSource.builder("history", history, select="order_id")
            HybridSourceBuilder
            └─ history  files  parquet  /lake/orders  select order_id
        """
        return HybridSourceBuilder(Leg(name, source, None, select, log_columns=log_columns))


class HybridSourceBuilder(SourceBuilder[HybridSource]):
    """Builder of a HybridSource. Options of the builder apply to the whole chain.

    Examples:
        >>> built = (
        ...     HybridSource.builder("history", history, select="order_id, amount")
        ...     .add_source(
        ...         "live",
        ...         live,
        ...         hand_over=HandOver.offsets(),
        ...         select="CAST(key AS STRING) AS order_id, value.amount AS amount",
        ...     )
        ...     .build()
        ... )
        >>> built.options() == orders.options()
        True
    """

    def __init__(self, *legs: Leg) -> None:
        """Create a builder with legs; use ``HybridSource.builder`` instead."""
        super().__init__()
        self._legs = legs

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
        log_columns: LogColumns | None = None,
    ) -> HybridSourceBuilder:
        """Return a builder with one more leg, which begins when the previous leg has ended.

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
                ``{"topic": "t", "partition": "p", "offset": "o"}``. The default is the columns of
                the hand-over. ``"none"`` excludes the leg from the hand-over. The names are
                columns of the source before ``select``.

        Raises:
            OptionError: if an argument is invalid. ``build`` checks the legs together.

        Examples:
            >>> builder = HybridSource.builder("history", history, select="order_id")
            >>> builder = builder.add_source("live", live, select="CAST(key AS STRING) AS order_id")
            >>> builder.build().read(spark).count()
            90
        """
        policies = {"on_holes": on_holes, "on_gap": on_gap, "on_duplicates": on_duplicates}
        changed = copy(self)
        changed._legs = (*self._legs, Leg(name, source, hand_over, select, policies, log_columns))
        return changed

    def _make(self) -> HybridSource:
        self._reject_chain_options([leg.name for leg in self._legs])
        _check_names(self._legs)
        for before, leg in zip(self._legs, self._legs[1:], strict=False):
            if not _is_bounded(before, self._options):
                raise OptionError.of(
                    "SPLICE_BUILDER.UNBOUNDED_LEG", leg=before.name, nextLeg=leg.name
                )
            _check_hand_over(before, leg)
        options = OptionMap({"legs": ",".join(leg.name for leg in self._legs)})
        for leg in self._legs:
            options = options.updated(leg.options())
        return HybridSource(dict(options.updated(self._options)), self._legs, self._options)

    def __repr__(self) -> str:
        """Return the legs as a tree, with secret values hidden."""
        return sources.tree(type(self).__name__, self._legs, self._options)


def joined(
    both: tuple[SourceSpec, SourceSpec],
    names: tuple[str, str],
    hand_over: HandOver | None,
    select: LegSelects,
    policies: Mapping[str, str | None],
    log_columns: LegColumns,
) -> HybridSource:
    """Return the chain of two sources, for ``SourceSpec.then``."""
    names = leg_names(names)
    selects, columns = leg_selects(names, select), leg_columns(log_columns)
    first = Leg(names[0], both[0], None, selects[0], log_columns=columns[0])
    second = Leg(names[1], both[1], hand_over, selects[1], policies, columns[1])
    return HybridSourceBuilder(first, second).build()


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


def _is_bounded(leg: Leg, of_chain: OptionMap) -> bool:
    """Return True if the leg has an end, with the options of the chain for this leg."""
    if isinstance(leg.source, FileSource):
        prefixed = {name: f"{leg.name}.{name}" for name in ("discovery", "endWhen")}
        given = {name: of_chain[key] for name, key in prefixed.items() if key in of_chain}
        return leg.source._is_bounded_with(given)
    named = of_chain.named(*(f"{leg.name}.{option}" for option in ending()))
    return leg.source.bounded or (isinstance(leg.source, LogSource) and bool(named))


def _check_hand_over(before: Leg, leg: Leg) -> None:
    rule = leg.hand_over
    if rule is None:
        return
    if isinstance(leg.source, _STORED):
        raise OptionError.of("SPLICE_BUILDER.HAND_OVER_NOT_SUPPORTED", leg=leg.name, rule=rule.kind)
    if isinstance(leg.source, LogSource) and leg.source._start_is_set:
        raise OptionError.of("SPLICE_BUILDER.DUPLICATE_START", leg=leg.name, rule=rule.kind)
    if rule.kind == "modificationTime" and not isinstance(before.source, _STORED):
        raise OptionError.of(
            "SPLICE_BUILDER.MODIFICATION_TIME_NOT_FOUND", leg=leg.name, previousLeg=before.name
        )
