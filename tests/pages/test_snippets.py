# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Each code block of the documentation is executed by a test, or has a valid format."""

from __future__ import annotations

import ast
import json
import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from pages import page
from pages.page import ROOT, Block, Page, pages

TESTS = ROOT / "tests"


def parse_properties(text: str) -> None:
    """Fail if a line is neither a comment nor a key with a value."""
    wrong = [line for line in text.splitlines() if not re.fullmatch(r"(#.*|\S+\s*=.*|)", line)]
    assert not wrong, f"not a property: {wrong}"


PARSERS: Mapping[str, Callable[[str], Any]] = {
    "json": json.loads,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "properties": parse_properties,
    "xml": ET.fromstring,
    "python": lambda text: compile(text, "block", "exec"),
}

BLOCKS = [block for each in pages() for block in each.all_blocks]


@cache
def executing_modules() -> dict[str, set[tuple[str, str | None]]]:
    """Return for each test module the pages, and `by`, whose blocks a test executes."""
    files = (path for path in TESTS.rglob("test_*.py") if path != Path(__file__))
    return {
        path.relative_to(ROOT).as_posix(): set(executed_pages(ast.parse(path.read_text("utf-8"))))
        for path in files
    }


def executed_pages(module: ast.Module) -> Iterator[tuple[str, str | None]]:
    """Yield name and `by` of each page whose execution a test asserts.

    The page is a variable of the module, or is created in the test: `PAGE.assert_all_executed()`
    or `Page(f"{FOLDER}/bulk-move.md").assert_all_executed()`.
    """
    texts: dict[str, str] = {}
    variables: dict[str, ast.expr] = {}
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=variable)], value=ast.Constant(str(text))):
                texts[variable] = text
            case ast.Assign(
                targets=[ast.Name(id=variable)], value=ast.Call(func=ast.Name(id="Page")) as call
            ):
                variables[variable] = call
            case ast.FunctionDef(name=test, body=body) if test.startswith("test_"):
                for made in map(_asserted, body):
                    if isinstance(made, ast.Name) and made.id in variables:
                        yield page_of(variables[made.id], texts)
                    elif isinstance(made, ast.Call):
                        yield page_of(made, texts)


def _asserted(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.Expr(ast.Call(func=ast.Attribute(value=made, attr="assert_all_executed"))):
            match made:
                case ast.Name() | ast.Call(func=ast.Name(id="Page")):
                    return made
    return None


def page_of(call: ast.expr, texts: Mapping[str, str]) -> tuple[str, str | None]:
    """Return name and `by` of a call of `Page`, with the constants of the module."""
    expression = ast.Expression(call)
    made: Page = eval(compile(expression, "page", "eval"), {"Page": Page, **texts})
    return made.name, made.by


def test_each_executable_block_has_a_test_that_asserts_its_execution() -> None:
    modules = executing_modules()
    executed = {key for keys in modules.values() for key in keys}
    missing = [
        f"{block.place} ({block.language})"
        for block in BLOCKS
        if block.executable
        and block.not_executed is None
        and (block.page, block.executed_by) not in executed
    ]
    assert not missing, (
        f"{missing}: execute the blocks in a test that ends with assert_all_executed() of its Page,"
        " or add <!-- not executed: reason --> directly before the fence"
    )


def test_each_comment_is_valid() -> None:
    wrong = []
    for block in BLOCKS:
        if block.not_executed is not None and (not block.executable or not block.not_executed):
            wrong.append(f"{block.place}: no reason, or a block that needs no execution")
        if block.executed_by is not None:
            keys = executing_modules().get(block.executed_by, set())
            if (block.page, block.executed_by) not in keys:
                wrong.append(f"{block.place}: {block.executed_by} does not execute the page")
    assert not wrong, wrong


def test_each_comment_belongs_to_a_block() -> None:
    wrong = []
    for each in pages():
        found = re.findall(r"<!-- (?:not executed|executed by)\b", each.path.read_text("utf-8"))
        used = [b for b in each.all_blocks if b.not_executed is not None or b.executed_by]
        if len(found) != len(used):
            wrong.append(f"{each.name}: {len(found)} comments, {len(used)} blocks with a comment")
    assert not wrong, f"{wrong}: put the comment directly before the fence"


def test_each_block_has_a_language_and_a_valid_format() -> None:
    wrong = []
    for block in BLOCKS:
        parse = PARSERS.get(block.language)
        if not block.language:
            wrong.append(f"{block.place}: no language; use text for an output")
        elif parse and not block.included_from:
            try:
                parse(block.code)
            except Exception as error:
                wrong.append(f"{block.place}: {block.language}: {error}")
    assert not wrong, "\n".join(wrong)


def test_each_included_section_exists() -> None:
    found = {block.place: block.included_from for block in BLOCKS if block.included_from}
    assert found
    for place, module in found.items():
        assert (ROOT / str(module)).exists(), place


# The rules above on small pages, because all pages of the documentation comply.

TEXT = """
```python
first = 1
```

<!-- not executed: needs a cluster -->
<!-- --8<-- [start:x] -->
```sh
splice demo
```

<!-- executed by: tests/deployment/test_connect.py -->
```python
second = first
```

<!-- not executed: a comment of another paragraph -->

  ```python
  third = 3
  ```

```sh
pip install x
```
"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The name of a small page."""
    monkeypatch.setattr(page, "ROOT", tmp_path)
    monkeypatch.setattr(page, "_EXECUTED", defaultdict(set))
    (tmp_path / "page.md").write_text(TEXT)
    return "page.md"


def test_blocks_have_their_comments(small: str) -> None:
    blocks = Page(small).all_blocks
    assert [block.not_executed for block in blocks] == [None, "needs a cluster", *[None] * 3]
    assert [bool(block.executed_by) for block in blocks] == [False, False, True, False, False]
    assert [block.executable for block in blocks] == [True, True, True, True, False]
    assert blocks[3] == Block(small, 19, "python", "third = 3\n")


def test_a_block_that_no_test_executes_is_an_error(small: str) -> None:
    tested = Page(small)
    first, third = tested.blocks("python")
    names = tested.run(first, {"1": "2"}, {})
    assert names["first"] == 2
    with pytest.raises(AssertionError, match=r"page\.md:19 \(python\)"):
        tested.assert_all_executed()
    tested.run(third, {}, names)
    tested.assert_all_executed()


def test_a_module_executes_the_blocks_with_its_name(small: str) -> None:
    other = Page(small, by="tests/deployment/test_connect.py")
    assert other.blocks("python") == ["\n" * 13 + "second = first\n"]
    with pytest.raises(AssertionError, match=r"page\.md:13"):
        other.assert_all_executed()


def test_another_text_is_not_a_block(small: str) -> None:
    with pytest.raises(AssertionError, match="the text has no block"):
        Page(small).run("fourth = 4", {}, {})


def test_a_text_may_contain_a_block(small: str) -> None:
    tested = Page(small)
    assert tested.run("zero = 0\nfirst = 1\nthird = 3\n", {}, {})["third"] == 3
    # Another object of the same page has the same executed blocks.
    Page(small).assert_all_executed()


def test_only_an_assertion_of_a_test_counts() -> None:
    code = "A = Page('a.md')\nB = Page('b.md', by='x')\nC = Page('c.md')\nD = 'docs'\n"
    code += "def test_a():\n  A.assert_all_executed()\n  B.assert_all_executed()\n"
    code += "def some():\n  C.assert_all_executed()\n"
    code += "def test_c():\n  if C:\n    C.assert_all_executed()\n"
    code += "def test_d():\n  Page(f'{D}/d.md').assert_all_executed()\n"
    found = {("a.md", None), ("b.md", "x"), ("docs/d.md", None)}
    assert set(executed_pages(ast.parse(code))) == found
