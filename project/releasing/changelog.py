# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Release notes, which are a section of the changelog."""

from __future__ import annotations

import re

from releasing.commands import ReleaseError

_UNRELEASED = "## [Unreleased]"


def with_release(changelog: str, version: str, date: str) -> str:
    """Return the changelog whose unreleased section is the section of the release.

    Raises:
        ReleaseError: if the changelog has no unreleased section.
    """
    if _UNRELEASED not in changelog:
        raise ReleaseError(f"CHANGELOG.md has no section '{_UNRELEASED}'")
    return changelog.replace(_UNRELEASED, f"{_UNRELEASED}\n\n## [{version}] - {date}", 1)


def notes(changelog: str, version: str) -> str:
    """Return the text of a release's section.

    Raises:
        ReleaseError: if the changelog has no such section, or the section is empty.
    """
    found = re.search(
        rf"^## \[{re.escape(version)}\].*?\n(.*?)(?=^## |^\[[^\]]+\]: |\Z)",
        changelog,
        re.DOTALL | re.MULTILINE,
    )
    if not found or not found.group(1).strip():
        raise ReleaseError(f"CHANGELOG.md has no notes of {version}")
    return found.group(1).strip() + "\n"
