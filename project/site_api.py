# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""A hook of MkDocs: puts the Scaladoc that sbt wrote into the site, under `api/scala`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

_FOLDER = "api/scala"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of the Scaladoc.

    Raises:
        PluginError: if sbt has not written it.
    """
    built = Path(config.config_file_path).parent / "target" / "site"
    pages = sorted(path for path in (built / _FOLDER).rglob("*") if path.is_file())
    if not pages:
        raise PluginError(f"{built / _FOLDER} has no Scaladoc: run `make docs`")
    for page in pages:
        name = page.relative_to(built).as_posix()
        files.append(File(name, str(built), config.site_dir, use_directory_urls=False))
    return files
