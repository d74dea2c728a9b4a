# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The public modules of the Python package, which a user may import."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "python" / "src"
PAGE = (ROOT / "docs" / "reference" / "python.md").read_text()

# A module of this list keeps its name and its public names. Other modules belong to `_internal`.
PUBLIC = {
    "splice",
    "splice.configure",
    "splice.dynamic_kafka",
    "splice.errors",
    "splice.files",
    "splice.hand_over",
    "splice.hybrid",
    "splice.kafka",
    "splice.offsets",
    "splice.source",
    "splice.streams",
    "splice.tables",
    "splice.queries",
    "splice.queries.clusters",
    "splice.queries.comparison",
    "splice.queries.describe",
    "splice.queries.history",
    "splice.queries.plan",
    "splice.queries.switches",
    "splice.queries.watch",
}


# The command `splice` is an interface of the shell, so its modules may change.
COMMANDS = "splice.cli"


def public_modules(folder: Path) -> set[str]:
    """Return the modules of a folder with sources, without modules that begin with `_`."""
    found = set()
    for file in folder.rglob("*.py"):
        path = file.relative_to(folder).with_suffix("")
        parts = path.parts[:-1] if path.name == "__init__" else path.parts
        if not any(part.startswith("_") for part in parts):
            found.add(".".join(parts))
    return found


def imports(file: Path) -> Iterator[tuple[str, str]]:
    """Return module and name of each import of a file."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def definitions(module: str) -> set[str]:
    """Return the classes and functions of a module."""
    body = ast.parse((SOURCES / f"{module.replace('.', '/')}.py").read_text()).body
    return {node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def test_the_list_has_each_public_module() -> None:
    found = public_modules(SOURCES)
    assert {name for name in found if not f"{name}.".startswith(f"{COMMANDS}.")} == PUBLIC


def test_a_module_outside_of_internal_is_public(tmp_path: Path) -> None:
    for name in ("a/__init__.py", "a/b.py", "a/c/d.py", "a/_internal/__init__.py", "a/_e.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert public_modules(tmp_path) == {"a", "a.b", "a.c.d"}


def test_each_name_of_the_package_is_defined_in_a_public_module() -> None:
    exported = list(imports(SOURCES / "splice" / "__init__.py"))
    assert len(exported) > 20
    for module, name in exported:
        assert module in PUBLIC, f"{module} of {name}"
        assert name in definitions(module), f"{name} of {module}"


@pytest.mark.parametrize("entry", re.findall(r"^::: (\S+)$", PAGE, re.MULTILINE))
def test_each_entry_of_the_reference_is_in_a_public_module(entry: str) -> None:
    module, _, name = entry.rpartition(".")
    assert module in PUBLIC
    assert name in definitions(module)
