# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A simple index of Python distributions (PEP 503) in a folder."""

from __future__ import annotations

import hashlib
import html
import shutil
from collections.abc import Sequence
from pathlib import Path

_PAGE = "<!DOCTYPE html>\n<html><body>\n{}\n</body></html>\n"


def write_index(folder: Path, project: str, files: Sequence[Path]) -> None:
    """Copy the distributions of a project into an index and write its pages."""
    pages = folder / project
    pages.mkdir(parents=True)
    links = []
    for file in files:
        shutil.copy(file, pages)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        name = html.escape(file.name)
        links.append(f'<a href="{name}#sha256={digest}">{name}</a><br>')
    (pages / "index.html").write_text(_PAGE.format("\n".join(links)))
    (folder / "index.html").write_text(_PAGE.format(f'<a href="{project}/">{project}</a>'))
