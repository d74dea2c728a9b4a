# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Code blocks of a page of the documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Page:
    """A Markdown file.

    Attributes:
        name: Path of the file, relative to the repository, such as ``docs/how-to/sinks.md``.
    """

    name: str

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return ROOT / self.name

    def blocks(self, language: str) -> list[str]:
        """Return the code blocks of a language, with the line numbers of the page."""
        text = self.path.read_text("utf-8")
        fence = rf"^(?P<indent> *)```{re.escape(language)}\n(?P<code>.*?)^(?P=indent)```$"
        found = re.finditer(fence, text, re.DOTALL | re.MULTILINE)
        return [
            "\n" * text.count("\n", 0, one.start("code"))
            + re.sub(rf"(?m)^{one['indent']}", "", one["code"])
            for one in found
        ]

    def section(self, name: str) -> str:
        """Return the code block between the markers of a section, such as ``[start:python]``."""
        pattern = rf"\[start:{re.escape(name)}\] -->\n```\w+\n(.*?)```\n"
        code: str
        (code,) = re.findall(pattern, self.path.read_text("utf-8"), re.DOTALL)
        return code

    def run(self, code: str, shown: Mapping[str, str], names: dict[str, Any]) -> dict[str, Any]:
        """Execute a block of Python, and return the names that it defines.

        Args:
            code: A block of the page.
            shown: Addresses and paths of the page, each with the one that replaces it.
            names: Names that the block uses, such as ``spark``. The block adds its own names.
        """
        for name, real in shown.items():
            code = code.replace(name, real)
        exec(compile(code, self.name, "exec"), names)
        return names
