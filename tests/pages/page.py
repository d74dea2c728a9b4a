# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Code blocks of a page of the documentation."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"( *)```(.*)")
_NOT_EXECUTED = re.compile(r" *<!-- not executed:(.*)-->")
_EXECUTED_BY = re.compile(r" *<!-- executed by: (\S+) -->")
_SNIPPET_MARK = re.compile(r" *<!-- --8<-- .*-->")
_INCLUDE = re.compile(r'--8<-- "(tests/[^":]+\.py):[\w-]+"\n')
_COMMANDS = re.compile(r"\b(?:splice|spark-submit|pyspark|make)\b")
_PARSED = ("json", "yaml", "properties", "xml")
_SHOWN = ("text", "diff", "mermaid")
_EXECUTED: dict[str, set[int]] = defaultdict(set)
"""Lines of the blocks that this process has executed, by page."""


@dataclass(frozen=True)
class Block:
    """A fenced code block.

    Attributes:
        page: Path of the page, relative to the repository.
        line: Number of the line of the fence.
        language: Language of the block; empty if the fence has none.
        code: Text of the block, without the indentation of the fence.
        not_executed: Reason in the comment `<!-- not executed: reason -->` before the block.
        executed_by: Path in the comment `<!-- executed by: tests/... -->` before the block: a
            module that executes the block instead of the module of the page.
    """

    page: str
    line: int
    language: str
    code: str
    not_executed: str | None = None
    executed_by: str | None = None

    @property
    def place(self) -> str:
        """Return page and line."""
        return f"{self.page}:{self.line}"

    @property
    def included_from(self) -> str | None:
        """Return the module of `tests` that contains and runs the code of the block, if any."""
        found = _INCLUDE.fullmatch(self.code)
        return found[1] if found else None

    @property
    def executable(self) -> bool:
        """Return True if a test must execute the block, unless a comment gives a reason.

        Each language that is neither parsed nor shown is executable. A block of shell commands is
        executable if the block starts Splice, Spark or make.
        """
        if self.language in (*_PARSED, *_SHOWN) or self.included_from:
            return False
        return self.language != "sh" or _COMMANDS.search(self.code) is not None


@dataclass(frozen=True)
class Page:
    """A Markdown file, and the blocks that a test module executes.

    A test that executes the blocks of a page ends with ``assert_all_executed``.
    ``test_snippets.py`` requires such a test for each page.

    Attributes:
        name: Path of the file, relative to the repository, such as ``docs/how-to/sinks.md``.
        by: Path of the test module, if the module executes only the blocks with a comment
            ``<!-- executed by: <path> -->``. By default, the blocks without such a comment.
    """

    name: str
    by: str | None = None

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return ROOT / self.name

    @cached_property
    def all_blocks(self) -> tuple[Block, ...]:
        """Return all fenced blocks of the page."""
        return tuple(_blocks(self.name, self.path.read_text("utf-8")))

    @property
    def own_blocks(self) -> list[Block]:
        """Return the blocks of the test module, without the blocks that no test executes."""
        return [
            block
            for block in self.all_blocks
            if block.executed_by == self.by and block.not_executed is None
        ]

    def blocks(self, language: str) -> list[str]:
        """Return the code of the blocks of a language, with the line numbers of the page."""
        return [
            "\n" * block.line + block.code
            for block in self.own_blocks
            if block.language == language and not block.included_from
        ]

    def section(self, name: str) -> str:
        """Return the code of the block after a marker such as ``[start:python]``."""
        text = self.path.read_text("utf-8")
        line = text.count("\n", 0, text.index(f"[start:{name}]")) + 1
        return next(block.code for block in self.all_blocks if block.line > line)

    def replaced(self, code: str, shown: Mapping[str, str]) -> str:
        """Return a block with other addresses and paths, for a test that executes the block.

        Args:
            code: A block of the page, or a text that contains blocks. The blocks count as executed.
            shown: Addresses and paths of the page, each with the one that replaces it.
        """
        line = len(code) - len(code.lstrip("\n"))
        blocks = [block.line for block in self.own_blocks if block.line == line]
        if not blocks:
            blocks = [block.line for block in self.own_blocks if block.code.strip() in code]
        assert blocks, f"the text has no block of {self.name}"
        _EXECUTED[self.name].update(blocks)
        for name, real in shown.items():
            code = code.replace(name, real)
        return code

    def run(self, code: str, shown: Mapping[str, str], names: dict[str, Any]) -> dict[str, Any]:
        """Execute a block of Python, and return the names that it defines.

        Args:
            code: A block of the page.
            shown: Addresses and paths of the page, each with the one that replaces it.
            names: Names that the block uses, such as ``spark``. The block adds its own names.
        """
        exec(compile(self.replaced(code, shown), self.name, "exec"), names)
        return names

    def assert_all_executed(self) -> None:
        """Assert that this process has executed each executable block of the module."""
        missing = [
            f"{block.place} ({block.language})"
            for block in self.own_blocks
            if block.executable and block.line not in _EXECUTED[self.name]
        ]
        assert not missing, f"blocks that the test did not execute: {missing}"


def pages() -> list[Page]:
    """Return the README and all pages of the documentation."""
    docs = sorted((ROOT / "docs").rglob("*.md"))
    return [Page("README.md"), *(Page(path.relative_to(ROOT).as_posix()) for path in docs)]


def _blocks(page: str, text: str) -> Iterator[Block]:
    lines = iter(enumerate(text.splitlines(keepends=True), 1))
    comments: list[str] = []
    for number, line in lines:
        fence = _FENCE.fullmatch(line.rstrip("\n"))
        if fence is None:
            comment = any(each.match(line) for each in (_NOT_EXECUTED, _EXECUTED_BY))
            if comment or not _SNIPPET_MARK.match(line):
                comments = [*comments, line] if comment else []
            continue
        end, code = fence[1] + "```", ""
        for _, inner in lines:
            if inner.rstrip() == end:
                break
            code += inner
        else:
            raise ValueError(f"{page}:{number}: the code block has no end")
        before = "".join(comments)
        reason, module = _NOT_EXECUTED.search(before), _EXECUTED_BY.search(before)
        comments = []
        yield Block(
            page,
            number,
            fence[2].strip(),
            textwrap.dedent(code) if fence[1] else code,
            reason[1].strip() if reason else None,
            module[1] if module else None,
        )
