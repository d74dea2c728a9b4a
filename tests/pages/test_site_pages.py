# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Pages of the root folder on the site have links to files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import site_pages

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://example.com/blob/main"


@pytest.mark.parametrize("source", sorted(site_pages.PAGES))
def test_the_links_of_a_page_of_the_root_folder(source: str) -> None:
    text = site_pages.with_links((ROOT / source).read_text("utf-8"), REPOSITORY)
    links = re.findall(r"\]\(([^)#]+)", text)
    pages = set(site_pages.PAGES.values())
    for link in links:
        if link.startswith(f"{REPOSITORY}/"):
            assert (ROOT / link.removeprefix(f"{REPOSITORY}/")).is_file(), link
        elif "://" not in link:
            assert link in pages or (ROOT / "docs" / link).is_file(), link


def test_each_kind_of_link() -> None:
    text = "[a](docs/kafka.md#memory) [b](SECURITY.md) [c](Makefile) [d](https://x.org/y) [e](#f)"
    assert site_pages.with_links(text, REPOSITORY) == (
        f"[a](kafka.md#memory) [b](security-policy.md) [c]({REPOSITORY}/Makefile)"
        " [d](https://x.org/y) [e](#f)"
    )
