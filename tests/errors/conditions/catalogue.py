# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""All error conditions and options of the product, and the options that tests set."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def conditions() -> list[str]:
    """Return the names of all conditions, without the conditions of the test kit."""
    files = [
        *ROOT.glob("jvm/*/src/main/resources/**/error-conditions.json"),
        *ROOT.glob("python/src/**/error-conditions.json"),
    ]
    found = []
    for file in files:
        if "testkit" in file.parts:
            continue
        for area, content in json.loads(file.read_text("utf-8")).items():
            found += [f"{area}.{condition}" for condition in content["subClass"]]
    return found


def options() -> list[str]:
    """Return the names of all options, from the reference page that is generated from the code.

    The section of prefixes has no complete names.
    """
    page = (ROOT / "docs" / "reference" / "options.md").read_text("utf-8")
    complete = page.split("\n## Options with a prefix\n")[0]
    return re.findall(r"(?m)^\| `([^`]+)` \|", complete)


_BY_A_METHOD = {"metadata.python": ".metadata_service("}
"""Method of a builder that sets an option whose value a user cannot know."""


def tests_of_options() -> dict[str, list[str]]:
    """Return the files of tests that set each option, in Scala or in Python."""
    files = [*ROOT.glob("jvm/*/src/test/**/*.scala"), *(ROOT / "tests").rglob("*.py")]
    files += (ROOT / "python" / "tests").rglob("*.py")
    own = Path(__file__).resolve()
    texts = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in files if path != own}
    found = {}
    for option in options():
        name = re.escape(option)
        given = rf"""["'.]{name}["']|[\s(,]{name}="""
        other = _BY_A_METHOD.get(option)
        pattern = re.compile(given if other is None else re.escape(other))
        # The search for a plain text is much faster than the search for the expression.
        texts_with = (item for item in texts.items() if (other or option) in item[1])
        found[option] = [path for path, text in texts_with if pattern.search(text)]
    return found
