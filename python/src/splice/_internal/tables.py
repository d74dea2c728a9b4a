# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Tables as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def cells(values: Sequence[object]) -> tuple[str, ...]:
    """Return values as cells of a table; '-' for None."""
    return tuple("-" if value is None else str(value) for value in values)


def text(headings: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table as lines with aligned columns."""
    table = [tuple(headings), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(headings))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in table]
    return "\n".join(line.rstrip() for line in lines)


def html(headings: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table as HTML."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
