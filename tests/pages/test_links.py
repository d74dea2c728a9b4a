# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Relative links and anchors of the documentation, on GitHub and on the site. No network."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from pages import page
from pages.page import ROOT, pages

FILES = [ROOT / "CONTRIBUTING.md", *(each.path for each in pages())]
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
_HTML = re.compile(r"<(?:a|img)\b[^>]*?(?:href|src)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#{1,6} +(.+?)(?: +#+)?(?: *\{#([\w.-]+)\})?$", re.MULTILINE)
_NAMED = re.compile(r"<(?:a|span)\b[^>]*?(?:id|name)=\"([^\"]+)\"")
_GENERATED = re.compile(r"^::: (\S+)", re.MULTILINE)


def text_of(path: Path) -> str:
    """Return the text of a page without code blocks and comments."""
    text = re.sub(r"(?ms)^( *)```.*?^\1```$", "", path.read_text("utf-8"))
    return re.sub(r"(?s)<!--.*?-->", "", text)


def links(path: Path) -> Iterator[str]:
    """Yield the targets of the links of a page, without web addresses."""
    text = re.sub(r"`[^`\n]*`", "", text_of(path))
    for pattern in (_LINK, _DEFINITION, _HTML):
        for target in pattern.findall(text):
            # GitHub resolves the path of a badge to a page of the repository, not to a file.
            if not re.match(r"[a-z][a-z+.-]*:|//|\.\./\.\./actions/", target):
                yield target


def on_github(title: str) -> str:
    """Return the anchor of a heading on GitHub."""
    return re.sub(r"[^\w\- ]", "", _plain(title).lower()).replace(" ", "-")


def on_the_site(title: str) -> str:
    """Return the anchor of a heading on the site of MkDocs."""
    ascii_only = unicodedata.normalize("NFKD", _plain(title)).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())


def _plain(title: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").strip()


@cache
def anchors(path: Path) -> tuple[set[str], set[str]]:
    """Return the anchors of a page on GitHub and on the site."""
    text = text_of(path)
    github: Counter[str] = Counter()
    site: Counter[str] = Counter()
    found: tuple[set[str], set[str]] = (set(), set())
    for title, given in _HEADING.findall(text):
        for count, anchor, mark, into in (
            (github, on_github(title), "-", found[0]),
            (site, given or on_the_site(title), "_", found[1]),
        ):
            into.add(f"{anchor}{mark}{count[anchor]}" if count[anchor] else anchor)
            count[anchor] += 1
    for into in found:
        into.update(_NAMED.findall(text))
    return found


def fault(path: Path, target: str) -> str | None:
    """Return the reason why a link of a page is wrong, if any."""
    name, _, anchor = target.partition("#")
    if name.startswith("/"):
        return "is not relative"
    if "api/scala/" in name:
        return None if path.is_relative_to(page.ROOT / "docs") else "is only on the site"
    to = (path.parent / name).resolve() if name else path
    if not to.exists():
        return "does not exist"
    if not to.is_relative_to(page.ROOT):
        return "is outside of the repository"
    if not anchor or to.suffix != ".md" or _GENERATED.search(to.read_text("utf-8")):
        return None
    github, site = anchors(to)
    if anchor not in github:
        return "has no such anchor on GitHub"
    on_site = path.is_relative_to(page.ROOT / "docs")
    return "has no such anchor on the site" if on_site and anchor not in site else None


def test_each_link_has_a_target() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {target}: {reason}"
        for path in FILES
        for target in links(path)
        if (reason := fault(path, target))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("other.md", None),
        ("other.md#two-words", None),
        ("other.md#two-words-1", "has no such anchor on the site"),
        ("other.md#two-words_1", "has no such anchor on GitHub"),
        ("other.md#named", None),
        ("other.md#--option", "has no such anchor on the site"),
        ("missing.md", "does not exist"),
        ("../README.md#top", None),
        ("../README.md#none", "has no such anchor on GitHub"),
        ("/docs/other.md", "is not relative"),
        ("#here", None),
        ("#there", "has no such anchor on GitHub"),
    ],
)
def test_a_link_is_compared_with_files_and_anchors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: str, reason: str | None
) -> None:
    monkeypatch.setattr(page, "ROOT", tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    (tmp_path / "README.md").write_text("# Top\n")
    other = '# Two words\n## Two `words`\n### - option\n<a id="named"></a>\n```\n# None\n```\n'
    (docs / "other.md").write_text(other)
    (docs / "this.md").write_text(f"# Here\n[a]({target}) `[b](c)` [d](https://e)\n")
    assert list(links(docs / "this.md")) == [target]
    assert fault(docs / "this.md", target) == reason
