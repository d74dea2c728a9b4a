# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Signatures and checksums of files."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from releasing.commands import ReleaseError, output

_ALGORITHMS = ("md5", "sha1", "sha256", "sha512")
_DRY_RUN = "Splice dry run <dry-run@splice.invalid>"


class Signer:
    """Signs files with a key of GnuPG."""

    def __init__(self, home: Path | None, key: str) -> None:
        """Take the folder of keys, by default the user's folder, and the name of a key."""
        self._options = ["gpg", "--batch", *(["--homedir", str(home)] if home else [])]
        self._key = key

    def sign(self, file: Path) -> None:
        """Write a signature next to a file, and verify it."""
        signature = f"{file}.asc"
        sign = ("--local-user", self._key, "--armor", "--detach-sign", "--output", signature)
        output(*self._options, "--yes", *sign, str(file), at=file.parent)
        output(*self._options, "--verify", signature, str(file), at=file.parent)


@contextmanager
def signer(key: str | None, home: Path) -> Iterator[Signer]:
    """Sign with a key of the user, or with a new key that is deleted afterwards.

    Raises:
        ReleaseError: if GnuPG is missing.
    """
    if not shutil.which("gpg"):
        raise ReleaseError("gpg is missing: install GnuPG (for example the package gnupg)")
    if key:
        yield Signer(None, key)
        return
    home.mkdir(mode=0o700, parents=True)
    new = ("--passphrase", "", "--quick-gen-key", _DRY_RUN, "ed25519", "sign", "1d")
    output("gpg", "--homedir", str(home), "--batch", *new, at=home)
    try:
        yield Signer(home, _DRY_RUN)
    finally:
        output("gpgconf", "--homedir", str(home), "--kill", "all", at=home)
        delete(home)


def delete(home: Path) -> None:
    """Delete a folder of keys.

    The agent of the keys ends after the command that stops it, and deletes its sockets.
    """
    while home.exists():
        with suppress(FileNotFoundError):
            shutil.rmtree(home)


def sign_release(folder: Path, key: str | None) -> int:
    """Sign all files of a release that users download, and return the number of signatures.

    The files are the artifacts and the bill of materials in ``maven``, the distributions in
    ``simple``, and the bill of materials of the wheel in the folder itself. Only the files in
    ``maven`` get checksums.

    Raises:
        ReleaseError: if GnuPG is missing or a signature is invalid.
    """
    artifacts = _files(folder / "maven", ".jar", ".pom", ".json")
    distributions = _files(folder / "simple", ".whl", ".gz")
    bills = sorted(folder.glob("*-cyclonedx.json"))
    files = [*artifacts, *distributions, *bills]
    with signer(key, folder / "keys") as one:
        for file in files:
            one.sign(file)
    for file in artifacts:
        write_checksums(file)
    return len(files)


def _files(folder: Path, *suffixes: str) -> list[Path]:
    return [f for f in sorted(folder.rglob("*")) if f.is_file() and f.suffix in suffixes]


def write_checksums(file: Path) -> None:
    """Write the checksums that Maven repositories have next to a file."""
    for name in _ALGORITHMS:
        Path(f"{file}.{name}").write_text(hashlib.new(name, file.read_bytes()).hexdigest())
