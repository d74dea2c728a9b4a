# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Execution of a runbook of the documentation, step by step."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pages.page import Page
from servers.waiting import PATIENCE

_BLOCK = re.compile(
    r"^### (?P<step>\d+)\. [^\n]*$|^(?P<skipped><!-- not executed: [^\n]* -->\n)?"
    r"```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
HEADING = "heading"
"""Language of the heading of a step."""


class Block(NamedTuple):
    """Code block of a runbook."""

    step: int
    """Number of the last heading such as ``### 2. Publish the document``; 0 before the first."""
    language: str
    """Language of the fence, or ``HEADING``."""
    code: str


class Runbook:
    """A page whose blocks are executed in order.

    - ``yaml``: The first line names a file, such as ``# /config/streams.yaml``. The block replaces
      the file.
    - ``python``: All blocks share one namespace.
    - ``sh``: The block must succeed.
    - ``text``: The output of the previous block of Python, which is executed again until the
      outputs are equal. ``…`` is any text within a line.
    """

    def __init__(self, name: str, shown: Mapping[str, str]) -> None:
        """Create a runbook of a page, with the text that replaces each text of the page."""
        self._page = Page(name)
        self._shown = shown

    def blocks(self) -> list[Block]:
        """Return the headings of steps, and the blocks that are executed."""
        text, step, found = self._page.path.read_text("utf-8"), 0, []
        for one in _BLOCK.finditer(text):
            if one["step"]:
                step = int(one["step"])
                found.append(Block(step, HEADING, ""))
            elif not one["skipped"]:
                before = "\n" * text.count("\n", 0, one.start("code"))
                found.append(Block(step, one["language"], before + one["code"]))
        return found

    def execute(
        self, actions: Mapping[int, Callable[[], None]], commands: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Execute all blocks, and return the names that the blocks of Python define.

        Args:
            actions: Events outside of Spark by the number of a step, for example a broker that
                fails. An event precedes the blocks of its step.
            commands: Programs of ``sh`` blocks, each with the command line that replaces it.
        """
        names: dict[str, Any] = {}
        pending, blocks = dict(actions), self.blocks()
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            if block.language == HEADING:
                pending.pop(block.step, lambda: None)()
            elif block.language == "python":
                shown = following.code if following and following.language == "text" else None
                self._run(block, shown, names)
            elif block.language == "yaml":
                self._publish(block)
            elif block.language == "sh":
                self._command(block, commands or {})
            else:
                assert block.language == "text", f"{self._page.name}: {block.language}"
        assert not pending, f"{self._page.name} has no steps {sorted(pending)}"
        return names

    def _run(self, block: Block, expected: str | None, names: dict[str, Any]) -> None:
        end = time.monotonic() + PATIENCE
        while True:
            with contextlib.redirect_stdout(io.StringIO()) as output:
                self._page.run(block.code, self._shown, names)
            if expected is None or _matches(self._replaced(expected), output.getvalue()):
                return
            if time.monotonic() > end:
                raise AssertionError(
                    f"{self._page.name}, step {block.step}: expected\n{expected.strip()}\n"
                    f"instead of\n{output.getvalue()}"
                )
            time.sleep(0.1)

    def _publish(self, block: Block) -> None:
        code = self._replaced(block.code.lstrip("\n"))
        first = code.splitlines()[0]
        assert first.startswith("# "), f"the first line of a document is its path: {first}"
        file = Path(first.removeprefix("# "))
        following = file.with_name(f"{file.name}.next")
        following.write_text(code)
        following.replace(file)

    def _command(self, block: Block, commands: Mapping[str, str]) -> None:
        code = self._replaced(block.code)
        for shown, real in commands.items():
            code = code.replace(shown, real)
        done = subprocess.run(
            ["bash", "-euc", code], capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        assert done.returncode == 0, f"{code.strip()}\n{done.stdout}{done.stderr}"

    def _replaced(self, code: str) -> str:
        for shown, real in self._shown.items():
            code = code.replace(shown, real)
        return code


def _matches(expected: str, output: str) -> bool:
    wanted, found = (
        [re.sub(r" +", " ", line).strip() for line in text.strip().splitlines()]
        for text in (expected, output)
    )
    return len(wanted) == len(found) and all(
        re.fullmatch(".*".join(map(re.escape, line.split("…"))), real)
        for line, real in zip(wanted, found, strict=True)
    )
