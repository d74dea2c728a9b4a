# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Software bills of materials in the format CycloneDX."""

from __future__ import annotations

import hashlib
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL


class Dependency(NamedTuple):
    """A jar that the bundle needs."""

    group: str
    name: str
    version: str
    licences: str
    sha256: str

    def component(self) -> Component:
        """Return it as a part of a bill."""
        names = [name for name in self.licences.split("; ") if name]
        purl = PackageURL("maven", self.group, self.name, self.version)
        return Component(
            name=self.name,
            group=self.group,
            version=self.version,
            type=ComponentType.LIBRARY,
            bom_ref=str(purl),
            purl=purl,
            licenses=[DisjunctiveLicense(name=name) for name in names],
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=self.sha256)],
        )


def dependencies(table: str) -> list[Dependency]:
    """Read the table that the build writes."""
    return [Dependency(*line.split("\t")) for line in table.splitlines()]


def jar(group: str, name: str, version: str, file: Path) -> Component:
    """Return a jar of Splice as the subject of a bill."""
    return _own(PackageURL("maven", group, name, version), file)


def wheel(name: str, version: str, file: Path) -> Component:
    """Return a wheel of Splice as the subject of a bill."""
    return _own(PackageURL("pypi", None, name, version), file)


def bill(subject: Component, parts: list[Component], epoch: str) -> str:
    """Write the bill of a file, which depends only on its arguments.

    Args:
        subject: The file.
        parts: Its dependencies.
        epoch: The time of the release in seconds.
    """
    names = "\n".join(sorted(f"{part.purl}" for part in [subject, *parts]))
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, names), components=parts)
    bom.metadata.component = subject
    bom.metadata.timestamp = datetime.fromtimestamp(int(epoch), timezone.utc)
    bom.register_dependency(subject, parts)
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _own(purl: PackageURL, file: Path) -> Component:
    return Component(
        name=purl.name,
        group=purl.namespace,
        version=purl.version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        licenses=[DisjunctiveLicense(id="Apache-2.0")],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=_sha256(file))],
    )


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
