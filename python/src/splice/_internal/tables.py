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


def text(headings: Sequence[str], rows: Sequence[tuple[str, ...]], left: int | None = None) -> str:
    """Return a table as lines with aligned columns.

    Args:
        headings: Headings of the columns.
        rows: Cells of each row.
        left: Number of left-aligned columns. The other columns are right-aligned. None aligns all
            columns on the left.
    """
    table = [tuple(headings), *rows]
    count = len(headings) if left is None else left
    widths = [max(len(row[column]) for row in table) for column in range(len(headings))]
    lines = [
        "  ".join(
            cell.ljust(width) if column < count else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
    return "\n".join(line.rstrip() for line in lines)


def html(headings: Sequence[str], rows: Sequence[tuple[str, ...]], left: int | None = None) -> str:
    """Return a table as HTML, with the colors of the page.

    ``left`` is as in :func:`text`. None leaves the alignment to the page.
    """

    def line(tag: str, cells: Sequence[str]) -> str:
        if left is None:
            return "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
        ends = ("left" if column < left else "right" for column in range(len(cells)))
        found = zip(cells, ends, strict=True)
        return "".join(
            f'<{tag} style="text-align: {end}">{escape(cell)}</{tag}>' for cell, end in found
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{line('th', headings)}</tr></thead><tbody>{body}</tbody></table>"
