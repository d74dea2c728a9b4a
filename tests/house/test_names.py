# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The tables of names contain each name of the code once, and no planned name is in the code."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
PYTHON = ROOT / "python" / "src" / "splice"
MODULES = (
    "source",
    "coordinator",
    "files",
    "streams",
    "tables",
    "kafka",
    "dynamic-kafka",
    "hybrid",
    "spark",
    "testkit",
)

_TYPE = re.compile(
    r"^(?:public )?(?:final |sealed |abstract |case )*(?:class|object|trait|interface) (\w+)",
    re.MULTILINE,
)
_PRIVATE = re.compile(
    r"^(?!.*\bsealed\b)(?:\w+ )*private(?:\[\w+\])? (?:\w+ )*(?:class|object|trait) (\w+)",
    re.MULTILINE,
)


def page(name: str) -> str:
    return (REFERENCE / name).read_text()


def section(heading: str) -> str:
    """Return the text of one section of the page of names."""
    return page("names.md").split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of each row of the Markdown tables in a text, without the headings."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    rules = [n for n, row in enumerate(cells) if set(row) == {"---"}]
    return [row for n, row in enumerate(cells) if n not in rules and n + 1 not in rules]


def ticked(text: str) -> list[str]:
    """Return the words in backquotes."""
    return re.findall(r"`([^`]+)`", text)


def cells(text: str, column: int) -> list[str]:
    """Return the first name in one column of each row of a Markdown table."""
    found = [re.search(r"`([^`]+)`", row[column]) for row in rows(text) if len(row) > column]
    return [match.group(1) for match in found if match]


def main(module: str) -> str:
    """Return the text of all Scala files of a module."""
    files = sorted((ROOT / "jvm" / module / "src" / "main").rglob("*.scala"))
    return "\n".join(file.read_text() for file in files)


def source(name: str) -> str:
    """Return the text of the Scala or Java file with this name."""
    found = list((ROOT / "jvm").glob(f"*/src/main/**/{name}"))
    assert len(found) == 1, f"{name}: {found}"
    return found[0].read_text()


def internal(name: str) -> str:
    """Return the text of a resource of the Python package."""
    return (PYTHON / "_internal" / name).read_text()


def allowed() -> dict[tuple[str, str], str]:
    """Return the text of allowed values by area and option."""
    areas: dict[str, dict[str, dict[str, str]]] = json.loads(
        (PYTHON / "_internal" / "options.json").read_text()
    )
    return {(area, key): o["allowed"] for area, keys in areas.items() for key, o in keys.items()}


def words(text: str) -> list[str]:
    """Return the fixed words of a text of allowed values; empty for an option without such words.

    A word with a parameter is the part up to the colon.
    """
    found: list[str] = []
    for part in text.removeprefix("one or more of ").split(", "):
        match = re.fullmatch(r"(?:or )?([A-Za-z]\w*)(:<[^>]*>)?", part)
        if not match:
            ends = part.startswith(("or ", "where ", "separated "))
            return found if ends else []
        found.append(match[1] + (":" if match[2] else ""))
    return found


def conditions() -> set[str]:
    """Return the conditions of the error files of all modules and of the Python package."""
    files = [*(ROOT / "jvm").glob("*/src/main/resources/**/error-conditions.json")]
    read = [
        json.loads(file.read_text())
        for file in [*files, PYTHON / "_internal" / "error-conditions.json"]
    ]
    areas = [area for file in read for area in file.items()]
    return {f"{name}.{part}" for name, area in areas for part in area["subClass"]}


def public_files() -> Iterator[tuple[Path, str]]:
    """Return path and text of each file of main code outside of packages `internal`."""
    for module in MODULES:
        for file in sorted((ROOT / "jvm" / module / "src" / "main").rglob("*")):
            if file.suffix in (".scala", ".java") and "internal" not in file.parts:
                yield file, file.read_text()


def public_types() -> Iterator[tuple[str, str]]:
    """Return package and name of each public top-level type outside of packages `internal`."""
    for file, text in public_files():
        package = re.search(r"^package ([\w.]+)", text, re.MULTILINE)
        assert package, file
        yield from ((package[1], name) for name in _TYPE.findall(text))


def python_methods() -> Iterator[ast.FunctionDef]:
    """Return the public methods of the Python builders."""
    for file in PYTHON.rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("Builder"):
                functions = [one for one in node.body if isinstance(one, ast.FunctionDef)]
                yield from (one for one in functions if not one.name.startswith("_"))


def methods_of_builders() -> set[str]:
    """Return the names of the public methods of the Scala and the Python builders."""
    found = {method.name for method in python_methods()}
    for file in (ROOT / "jvm").glob("*/src/main/**/*Builder.scala"):
        if "internal" not in file.parts:
            public = file.read_text().split("\nprivate", 1)[0]
            found |= set(re.findall(r"^  (?:override |@varargs )*def (\w+)", public, re.MULTILINE))
    return found


def arguments_of_builders() -> set[str]:
    """Return the names of the arguments of the Python builders."""
    arguments = [method.args for method in python_methods()]
    return {one.arg for all_of in arguments for one in (*all_of.args, *all_of.kwonlyargs)}


def once(names: list[str]) -> set[str]:
    """Return names that must be different."""
    assert [name for name, count in Counter(names).items() if count > 1] == []
    return set(names)


def test_every_option_has_one_row() -> None:
    areas = {area.partition("\n")[0]: area for area in re.split(r"\n## ", page("options.md"))[1:]}
    prefixes = {
        re.sub(r"<\w+>$", "", name) for name in cells(areas.pop("Options with a prefix"), 0)
    }
    assert prefixes == set(cells(section("Option names").split("Prefixes:")[1], 0))
    known = {(area, name) for area, text in areas.items() for name in cells(text, 0)}
    lines = section("Option names").split("Prefixes:")[0].splitlines()
    named = Counter((row.split("|")[1].strip(), name) for row in lines for name in cells(row, 1))
    assert known - set(named) == set()
    assert set(named) - known == set()
    assert [name for name, count in named.items() if count > 1] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fail, warn", ["fail", "warn"]),
        ("fail, or timestamp:<time>, where <time> is a time", ["fail", "timestamp:"]),
        ("one or more of file, http, separated by commas", ["file", "http"]),
        ("none, or a JSON object", ["none"]),
        ("milliseconds, 0 or more", []),
        ("true or false", []),
        ("a size such as 64k, 128m or 1g", []),
    ],
)
def test_the_words_of_allowed_values_are_found(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_every_fixed_word_of_an_option_is_a_value() -> None:
    known = {key: found for key, text in allowed().items() if (found := words(text))}
    providers = re.findall(r'val Kind = "(\w+)"', "".join(map(main, MODULES[:-1])))
    named: dict[tuple[str, str], list[str]] = {}
    for area, option, values, *_ in rows(section("Option values")):
        key = (area, ticked(option)[0])
        assert key not in named
        named[key] = [re.sub(":<.*", ":", value) for value in ticked(values)]
    assert sorted(named.pop(("Every source", "source"))) == sorted(providers)
    assert named == known


def test_every_key_of_the_metadata_document_has_one_row() -> None:
    document, places = source("MetadataDocument.scala"), source("PlaceText.scala")
    lists = re.findall(r"val sections = Seq\(.*\)|\.only\([^\n]*\)", document + places)
    limits = {"MaxOffsets.key": '"maxOffsetsPerTrigger"', "MaxBytes.key": '"maxBytesPerTrigger"'}
    text = "\n".join(lists)
    for name, key in limits.items():
        assert name in text
        text = text.replace(name, key)
    known = set(re.findall(r'"(\w+)"', text))
    assert len(known) > 15
    assert once(cells(section("Keys of the metadata document"), 1)) == known


def test_every_metric_of_the_progress_has_one_row() -> None:
    known = once(re.findall(r'val \w+ = "(\w+)"', source("ProgressMetric.scala")))
    table = section("Metric names").split("### Query progress", 1)[1]
    assert once(cells(table.split("Keys of the JSON", 1)[0], 1)) == known
    metrics = (ROOT / "docs" / "metrics.md").read_text().split("\n## Query progress\n", 1)[1]
    described = [name for row in rows(metrics.split("\n## ", 1)[0]) for name in ticked(row[0])]
    assert once(described) == known


def test_every_column_and_task_metric_has_one_row() -> None:
    parts = re.split(r"\n## ", page("columns.md"))[1:]
    columns = {name for part in parts if "columns\n" in part for name in cells(part, 0)}
    metrics = {name for part in parts if "task metrics\n" in part for name in cells(part, 0)}
    # The page has no section of many clusters. The memory source belongs to the testkit.
    origins = re.findall(r'val \w+ += "(_\w+)"', source("DynamicColumns.scala"))
    assert once(cells(section("Columns"), 1)) == columns | set(origins) | {"_log"}
    tasks = section("Metric names").split("### Task metrics", 1)[1].split("\n### ", 1)[0]
    assert once(cells(tasks, 1)) == metrics


def test_every_side_log_entry_of_the_page_of_checkpoints_has_one_row() -> None:
    text = (ROOT / "docs" / "checkpoints.md").read_text().split("\n## Side log\n", 1)[1]
    known = once([name.removesuffix("…") for name in cells(text.split("\n## ", 1)[0], 0)])
    assert once(cells(section("Side-log entries"), 1)) == known


def test_every_public_type_is_in_the_row_of_its_package() -> None:
    table = rows(section("Public classes"))
    named = {ticked(row[0])[0]: once(ticked(row[1])) for row in table}
    known: dict[str, set[str]] = {}
    for package, name in public_types():
        known.setdefault(package, set()).add(name)
    assert named == known


def test_a_public_package_has_private_types_only_next_to_their_public_types() -> None:
    for file, text in public_files():
        public = set(_TYPE.findall(text))
        # Public types need the sealed parent and the companion of the parent in the same file.
        sealed = set(re.findall(r"^sealed private\[\w+\] trait (\w+)", text, re.MULTILINE))
        private = set(_PRIVATE.findall(text)) - sealed
        assert private - public == set(), f"{file}: move these types to a package `internal`"


def test_every_public_name_of_python_and_every_method_of_a_builder_is_in_the_table() -> None:
    tree = ast.parse((PYTHON / "__init__.py").read_text())
    exports = [ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign)]
    assert len(exports) == 1
    texts = ticked(section("Builders and functions"))
    names = {word for text in texts for word in re.findall(r"\w+", text)}
    assert set(exports[0]) - names == set()
    assert methods_of_builders() - names == set()


def test_every_error_condition_has_one_row() -> None:
    known = set(re.findall(r"^### (SPLICE_\S+)", page("errors.md"), re.MULTILINE))
    named = Counter(cells(section("Error conditions").split("Conditions:")[1], 0))
    # The memory source belongs to the testkit.
    other = {name for name in named if name.startswith("SPLICE_MEMORY.")}
    assert known - set(named) == set()
    assert set(named) - known - other == set()
    assert [name for name, rows in named.items() if rows > 1] == []


def test_no_parameter_of_a_message_is_a_vague_word() -> None:
    files = [*(ROOT / "jvm").glob("*/src/main/**/error-conditions.json")]
    files.append(PYTHON / "_internal" / "error-conditions.json")
    assert len(files) == 10
    vague = "after all asked before doc foreign held known most now other own question submit"
    vague += " wanted what where who why"
    names = {name for file in files for name in re.findall(r"<(\w+)>", file.read_text())}
    assert names & set(vague.split()) == set()
    assert [name for name in names if not re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name)] == []


def test_every_area_has_the_sqlstate_of_its_row() -> None:
    areas = re.split(r"\n## ", page("errors.md"))[1:]
    known = {area.partition("\n")[0]: re.findall(r"SQL state `(\w+)`", area) for area in areas}
    rows = section("Error conditions").split("Conditions:")[0]
    named = dict(zip(cells(rows, 0), cells(rows, 1), strict=True))
    del named["SPLICE_MEMORY"]
    assert {name: [state] for name, state in named.items()} == known


def test_every_area_has_one_reaction() -> None:
    intro, *areas = re.split(r"\n## ", page("errors.md"))
    known = {a.partition("\n")[0]: re.findall(r"SQL state `(\w+)`", a)[0] for a in areas}
    table = rows(intro)
    named = [(area, ticked(row[0])[0]) for row in table for area in ticked(row[1])]
    assert sorted(named) == sorted(known.items())
    assert all(re.match(r"\*\*(Retry|Alert|Fix the query)\*\*: ", row[2]) for row in table)


def exists(kind: str, area: str, name: str) -> bool:
    """Return true if a planned name is in the code."""
    if kind == "Option":
        return (area, name) in allowed()
    if kind == "Document key":
        return f'"{name}"' in source("MetadataDocument.scala") + source("PlaceText.scala")
    if kind == "Metric":
        return f'"{name}"' in source("ProgressMetric.scala") + source("ClusterReports.scala")
    if kind == "Condition":
        return name in conditions()
    if kind == "Side-log entry":
        part = name.removeprefix("leg-<name>/").replace("/", "").split("<")[0]
        return any(f'"{part}{end}"' in main(module) for module in MODULES for end in ("", "/"))
    if kind == "Builder":
        method = name.rsplit(".", 1)[-1]
        found = methods_of_builders() | arguments_of_builders()
        return method in found or f"def {method}(" in source("OffsetsInitializer.scala")
    assert kind == "Error class"
    return any(f"class {name}" in file.read_text() for file in PYTHON.rglob("*.py"))


def planned() -> Iterator[tuple[str, str, str, str]]:
    """Return kind, area, name and values of each name of the section of planned names."""
    for kind, area, names, values, _ in rows(section("Planned")):
        if kind == "Option value":
            option, word = ticked(names)
            yield kind, area, option, word
        else:
            yield from ((kind, area, name, values) for name in ticked(names))


def test_no_planned_name_is_in_the_code() -> None:
    assert len(list(planned())) > 5
    for kind, area, name, values in planned():
        if kind == "Option value":
            found = [words(text) for (_, option), text in allowed().items() if option == name]
            assert found, name
            assert all(values not in one for one in found), f"{name} = {values}"
        else:
            assert not exists(kind, area, name), name
