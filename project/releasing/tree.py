# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The tree of a release: a clone with the commit and the tag of the version."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from releasing.changelog import notes, with_release
from releasing.commands import ReleaseError, output, run

_AUTHOR = ("-c", "user.name=Splice release", "-c", "user.email=release@splice.invalid")


class Tree(NamedTuple):
    """A clone of the repository at a tag."""

    folder: Path
    tag: str

    @property
    def epoch(self) -> str:
        """The time of the tagged commit in seconds, which builds use as their time."""
        return output("git", "log", "-1", "--format=%ct", at=self.folder)

    def again(self, folder: Path) -> Tree:
        """Clone the tag into another folder."""
        command = ("git", "clone", "--quiet", "--branch", self.tag, str(self.folder), str(folder))
        run(*command, "--config", "advice.detachedHead=false", at=self.folder)
        return Tree(folder, self.tag)


def tagged(root: Path, folder: Path, version: str, key: str | None) -> Tree:
    """Clone a repository, set the version in a commit, and tag that commit.

    Args:
        root: The repository, which stays unchanged.
        folder: The path of the clone.
        version: The version of the release, such as ``0.1.0``.
        key: The key that signs the tag; None leaves the tag without a signature.

    Raises:
        ReleaseError: if the repository has changes without a commit, or the tag exists.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+(-(RC|M)\d+)?", version):
        raise ReleaseError(f"'{version}' is not a version of a release, such as 0.1.0 or 0.1.0-RC1")
    changes = output("git", "status", "--porcelain", at=root)
    if changes:
        raise ReleaseError(f"commit or remove these changes first:\n{changes}")
    tag = f"v{version}"
    if output("git", "tag", "--list", tag, at=root):
        raise ReleaseError(f"the tag {tag} exists")
    run("git", "clone", "--quiet", str(root), str(folder), at=root)
    (folder / "VERSION").write_text(version + "\n")
    changelog = folder / "CHANGELOG.md"
    today = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    changelog.write_text(with_release(changelog.read_text("utf-8"), version, today), "utf-8")
    title = f"Release {version}"
    run("git", *_AUTHOR, "commit", "--quiet", "--all", "--message", title, at=folder)
    text = f"Splice {version}\n\n{notes(changelog.read_text('utf-8'), version)}"
    signed = ("--sign", "--local-user", key) if key else ("--annotate",)
    # The headings of the notes begin with the mark of a comment.
    run("git", *_AUTHOR, "tag", *signed, "--cleanup=verbatim", "--message", text, tag, at=folder)
    return Tree(folder, tag)
