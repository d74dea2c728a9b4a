# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A hook of MkDocs: adds pages of the root folder to the site, such as the changelog.

A link to a page of the site remains a link within the site. Every other relative link becomes a
link to the repository, because the site has no such file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
}
"""Pages of the site by their files in the root folder."""

_GENERATED = "<!-- Generated from the code"
_LINK = re.compile(r"\]\((?!\w+:|#)(?P<path>[^)#]+)(?P<anchor>#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root folder."""
    root = Path(config.config_file_path).parent
    for source, page in PAGES.items():
        text = (root / source).read_text("utf-8")
        content = with_links(text, f"{config.extra['repository']}/blob/main")
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Remove the link that edits a generated page, because the next build replaces the page."""
    if _GENERATED in markdown:
        page.edit_url = None
    return markdown


def with_links(text: str, repository: str) -> str:
    """Replace the relative links of a page of the root folder.

    Args:
        text: Markdown with links relative to the root folder.
        repository: Address of the files of the repository.
    """

    def replaced(link: re.Match[str]) -> str:
        path, anchor = link["path"], link["anchor"] or ""
        if path in PAGES:
            return f"]({PAGES[path]}{anchor})"
        if path.startswith("docs/"):
            return f"]({path.removeprefix('docs/')}{anchor})"
        return f"]({repository}/{path}{anchor})"

    return _LINK.sub(replaced, text)
