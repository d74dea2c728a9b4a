# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Picture of the output of the demo, as SVG.

The program copies its input to its output, and writes the lines of the demo to a picture::

    make demo | .venv/bin/python tests/demo/picture.py docs/assets/demo.svg
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

_LINE = re.compile(r" *\d+\.\d s  |starting a Kafka broker$|rows \d+ missing \d+")
_STYLES = (
    (re.compile(r"killed the driver"), "bold red"),
    (re.compile(r"the switch, per partition| -> \d+$"), "cyan"),
    (re.compile(r"^rows \d+ missing 0 duplicated 0$"), "bold green"),
    (re.compile(r"rows in the sink"), "dim"),
)
# The template of rich without a font of another host. The text has the same width in any font.
_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def lines_of_the_demo(output: Iterable[str]) -> Iterator[str]:
    """Return the lines that the demo printed, without the lines of other programs.

    The demo prints its position several times per batch. The result has the last of successive
    positions.
    """
    position = ""
    for line in filter(_LINE.match, output):
        if "rows in the sink" in line:
            position = line
            continue
        if position:
            yield position
            position = ""
        yield line


def svg(command: str, lines: Iterable[str]) -> str:
    """Return the picture of a terminal with a command and its lines."""
    shown = [f"$ {command}", *lines]
    width = max(map(len, shown))
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    for line in shown:
        style = next((style for pattern, style in _STYLES if pattern.search(line)), "")
        console.print(Text(line, style), soft_wrap=True)
    return console.export_svg(title=command, code_format=_FORMAT, unique_id="demo")


def main() -> None:
    """Copy the input to the output, and write the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("picture", type=Path, help="file to write")
    given = parser.parse_args()
    read = []
    for line in sys.stdin:
        print(line, end="", flush=True)
        read.append(line.rstrip("\n"))
    given.picture.write_text(svg("make demo", lines_of_the_demo(read)) + "\n")


if __name__ == "__main__":
    main()
