# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Text and HTML of sources and chains, with secrets hidden."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from splice._internal import tables
from splice._internal.secrets import redacted, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from splice._internal.leg import Leg

_SERVERS = "kafka.bootstrap.servers"
_SERVICES = ("metadata.file", "metadata.url", "metadata.class", "metadata.python", _SERVERS)
_TABLE_PLACES = ("path", "dbtable", "query")
_HEADINGS = ("leg", "source", "reads", "select", "hand-over", "other options")
_LONGEST = 60


def html(title: str, options: Mapping[str, str]) -> str:
    """Return the options of a source as an HTML table."""
    rows = [(name, redacted(name, value)) for name, value in options.items()]
    return f"<p>{escape(title)}</p>{tables.html(('option', 'value'), rows)}"


def tree(title: str, legs: Sequence[Leg], options: Mapping[str, str]) -> str:
    """Return the legs of a chain as a tree. The title has the options of the whole chain."""
    lines = [f"{title}({shown(options)})" if options else title]
    heads = [(leg.name, leg.source.kind, _reads(leg), _select(leg)) for leg in legs]
    table = tables.text(("", "", "", ""), [tables.cells(head) for head in heads]).splitlines()[1:]
    for number, (leg, head) in enumerate(zip(legs, table, strict=True)):
        last = number == len(legs) - 1
        lines.append(f"{'└─' if last else '├─'} {head}")
        lines += [f"{' ' if last else '│'}    ↳ {text}" for text in _notes(leg)]
    return "\n".join(lines)


def chain_html(title: str, legs: Sequence[Leg], options: Mapping[str, str]) -> str:
    """Return the legs of a chain as an HTML table."""
    head = f"{title}({shown(options)})" if options else title
    rows = [
        tables.cells(
            (
                leg.name,
                leg.source.kind,
                _reads(leg),
                leg.select,
                "; ".join(_switch(leg)) or None,
                shown(_other(leg)) or None,
            )
        )
        for leg in legs
    ]
    return f"<p>{escape(head)}</p>{tables.html(_HEADINGS, rows)}"


def _select(leg: Leg) -> str:
    if leg.select is None:
        return ""
    text = " ".join(leg.select.split())
    return f"select {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}"


def _notes(leg: Leg) -> list[str]:
    other = shown(_other(leg))
    return [*_switch(leg), *([f"options: {other}"] if other else [])]


def _switch(leg: Leg) -> list[str]:
    found = []
    if leg.hand_over is not None:
        columns = ", ".join(f"{k}={v}" for k, v in leg.hand_over.parameters.items())
        text = f"hand-over: {leg.hand_over.kind}{f' ({columns})' if columns else ''}"
        policies = [(name, value) for name, value in leg.policies.items() if value is not None]
        found.append(text + "".join(f", {n.replace('_', ' ')}: {v}" for n, v in policies))
    if isinstance(leg.log_columns, str):
        found.append(f"log columns: {leg.log_columns}")
    elif leg.log_columns is not None:
        found.append(f"log columns: {', '.join(f'{k}={v}' for k, v in leg.log_columns.items())}")
    return found


def _reads(leg: Leg) -> str:
    """Return the place of files or of a table, or the topics or streams and their servers."""
    options = leg.source._options
    text = {name.lower(): redacted(name, value) for name, value in options.items()}
    if leg.source.kind == "files":
        return f"{text.get('format', '')}  {text.get('path') or text.get('paths', '')}"
    if leg.source.kind == "table":
        place = next((text[name] for name in _TABLE_PLACES if name in text), "")
        return text.get("table") or f"{text.get('format', '')}  {place}".rstrip()
    names = ("subscribe", "assign", "streams")
    patterns = ("subscribepattern", "streampattern")
    what = [text[name] for name in names if name in text]
    what += [f"/{text[name]}/" for name in patterns if name in text]
    where = next((text[name] for name in _SERVICES if name in text), "")
    return f"{', '.join(what)} @ {where}" if where else ", ".join(what)


def _other(leg: Leg) -> dict[str, str]:
    """Return the options that are not part of the other columns."""
    first = {"format", "path", "paths", "subscribe", "assign", "streams"}
    first |= {"subscribepattern", "streampattern"}
    if leg.source.kind == "table":
        first |= {"table", *_TABLE_PLACES}
    options = leg.source._options
    where = next((name for name in _SERVICES if options.named(name)), "")
    hidden = first | {where}
    return {name: value for name, value in options.items() if name.lower() not in hidden}
