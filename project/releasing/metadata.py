# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The metadata that Maven Central and PyPI require of a release."""

from __future__ import annotations

import email
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

_POM = "{http://maven.apache.org/POM/4.0.0}"
_IN_POM = (
    "groupId",
    "artifactId",
    "version",
    "name",
    "description",
    "url",
    "licenses/license/name",
    "licenses/license/url",
    "developers/developer/name",
    "scm/url",
    "scm/connection",
    "scm/developerConnection",
)
_IN_WHEEL = (
    "Name",
    "Version",
    "Summary",
    "License-Expression",
    "License-File",
    "Author",
    "Keywords",
    "Classifier",
    "Requires-Python",
    "Requires-Dist",
    "Project-URL",
    "Description-Content-Type",
)
_JARS = ("", "-sources", "-javadoc")


def missing(repository: Path, wheel: Path, version: str) -> Iterator[str]:
    """Describe each missing or contradictory part of a release."""
    poms = sorted(repository.rglob(f"*-{version}.pom"))
    if not poms:
        yield f"{repository} has no pom of {version}"
    urls = set()
    for pom in poms:
        root = ElementTree.parse(pom).getroot()
        for path in _IN_POM:
            if not _text(root, path):
                yield f"{pom.name} has no {path}"
        urls.add(_text(root, "url"))
        for kind in _JARS:
            if not (pom.parent / f"{pom.stem}{kind}.jar").exists():
                yield f"{pom.name} has no jar '{pom.stem}{kind}.jar' next to it"
    yield from _missing_in_wheel(wheel, version, urls)


def _missing_in_wheel(wheel: Path, version: str, urls: set[str]) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
        jars = [name for name in archive.namelist() if name.endswith(".jar")]
    for field in _IN_WHEEL:
        if not metadata.get(field):
            yield f"{wheel.name} has no {field}"
    if metadata["Version"] != version:
        yield f"{wheel.name} has the version {metadata['Version']}, not {version}"
    if not str(metadata.get_payload()).strip():
        yield f"{wheel.name} has no description"
    if len(jars) != 2 or not any(jar.endswith(f"-{version}.jar") for jar in jars):
        yield f"{wheel.name} has the jars {jars}"
    home = {
        url.partition(", ")[2] for url in metadata.get_all("Project-URL", []) if "Homepage" in url
    }
    if home != urls:
        yield f"the poms have the address {sorted(urls)}, the wheel has {sorted(home)}"


def _text(root: ElementTree.Element, path: str) -> str:
    found = root.find("/".join(_POM + part for part in path.split("/")))
    return (found.text or "").strip() if found is not None else ""
