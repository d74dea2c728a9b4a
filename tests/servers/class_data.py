# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Archives of parsed classes, which shorten the start of a JVM (class data sharing)."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "target" / "class-data"


def java() -> str:
    """Return the command that starts a JVM."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def options(name: str, jars: Iterable[Path], train: Callable[[str], None]) -> list[str]:
    """Return the JVM options that load classes from an archive.

    The first process that needs the archive creates it, and other processes wait for that process.
    An archive serves one JVM and one state of the jars. Without an archive a JVM only starts more
    slowly, so a failure is a warning.

    Args:
        name: Name of the archive.
        jars: Jars on the class path.
        train: Function that runs a JVM with an option until the JVM exits normally. The archive
            contains the classes that this JVM loads.
    """
    archive = _FOLDER / f"{name}-{_digest(jars)}.jsa"
    failed = archive.with_suffix(".failed")
    if not archive.exists() and not failed.exists():
        _FOLDER.mkdir(parents=True, exist_ok=True)
        with (_FOLDER / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not archive.exists() and not failed.exists():
                _create(archive, failed, name, train)
    return [f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []


def _create(archive: Path, failed: Path, name: str, train: Callable[[str], None]) -> None:
    for outdated in _FOLDER.glob(f"{name}-*"):
        outdated.unlink()
    fresh = archive.with_suffix(".fresh")
    try:
        train(f"-XX:ArchiveClassesAtExit={fresh}")
        fresh.replace(archive)
    except Exception as error:
        # A JVM without a base archive never writes an archive, so the next process must not try
        # again.
        failed.write_text(str(error))
        warnings.warn(f"no class data of {name}: {error}", stacklevel=2)


def _digest(jars: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for file in (Path(shutil.which(java()) or java()).resolve(), *jars):
        status = file.stat()
        found.update(f"{file} {status.st_size} {status.st_mtime_ns}\n".encode())
    return found.hexdigest()[:16]
