# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""The steps of a release that need no build."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from releasing import bill, changelog, index, signing, tree
from releasing.commands import ReleaseError

ROOT = Path(__file__).resolve().parents[2]

CHANGELOG = """# Changelog

## [Unreleased]

### Added

- A source.

## [0.0.9] - 2026-01-01

- Nothing.
"""


def git(*command: str, at: Path) -> str:
    options = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    done = subprocess.run(["git", *options, *command], cwd=at, check=True, capture_output=True)
    return done.stdout.decode()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "VERSION").write_text("0.1.0-SNAPSHOT\n")
    (folder / "CHANGELOG.md").write_text(CHANGELOG)
    git("init", "--quiet", at=folder)
    git("add", ".", at=folder)
    git("commit", "--quiet", "--message", "Begin", at=folder)
    return folder


def test_the_notes_are_the_section_of_the_version() -> None:
    released = changelog.with_release(CHANGELOG, "0.1.0", "2026-02-03")
    assert "## [Unreleased]\n\n## [0.1.0] - 2026-02-03\n" in released
    assert changelog.notes(released, "0.1.0") == "### Added\n\n- A source.\n"
    assert changelog.notes(released, "0.0.9") == "- Nothing.\n"
    with pytest.raises(ReleaseError, match=r"no notes of 0\.2\.0"):
        changelog.notes(released, "0.2.0")


def test_a_tag_is_in_a_clone_and_the_repository_stays_unchanged(
    repository: Path, tmp_path: Path
) -> None:
    first = tree.tagged(repository, tmp_path / "first", "0.1.0", None)
    second = first.again(tmp_path / "second")
    assert (second.folder / "VERSION").read_text() == "0.1.0\n"
    assert second.epoch == first.epoch
    assert git("cat-file", "-t", "v0.1.0", at=second.folder).strip() == "tag"
    assert "### Added" in git("tag", "--list", "--format=%(contents)", "v0.1.0", at=second.folder)
    assert git("tag", at=repository) == ""
    assert (repository / "VERSION").read_text() == "0.1.0-SNAPSHOT\n"


@pytest.mark.parametrize("version", ["0.1", "0.1.0-SNAPSHOT", "v0.1.0"])
def test_a_version_that_is_not_a_release_is_rejected(
    repository: Path, tmp_path: Path, version: str
) -> None:
    with pytest.raises(ReleaseError, match="is not a version of a release"):
        tree.tagged(repository, tmp_path / "first", version, None)


def test_changes_without_a_commit_are_rejected(repository: Path, tmp_path: Path) -> None:
    (repository / "new").touch()
    with pytest.raises(ReleaseError, match=r"commit or remove(?s:.*)new"):
        tree.tagged(repository, tmp_path / "first", "0.1.0", None)


def test_a_bill_depends_only_on_its_parts(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"jar")
    table = "org.a\tb\t1.0\tApache-2.0; MIT License\t" + "0" * 64
    parts = [part.component() for part in bill.dependencies(table)]
    subject = bill.jar("io.github.splice", "a", "0.1.0", jar)
    text = bill.bill(subject, parts, "1700000000")
    assert text == bill.bill(subject, parts, "1700000000")
    found = json.loads(text)
    assert found["bomFormat"] == "CycloneDX"
    assert [part["purl"] for part in found["components"]] == ["pkg:maven/org.a/b@1.0"]
    reference = "pkg:maven/io.github.splice/a@0.1.0"
    assert {"ref": reference, "dependsOn": ["pkg:maven/org.a/b@1.0"]} in found["dependencies"]


def test_an_index_links_each_file_with_its_hash(tmp_path: Path) -> None:
    wheel = tmp_path / "a-1.whl"
    wheel.write_bytes(b"wheel")
    index.write_index(tmp_path / "simple", "a", [wheel])
    assert 'href="a/"' in (tmp_path / "simple" / "index.html").read_text()
    page = (tmp_path / "simple" / "a" / "index.html").read_text()
    assert 'href="a-1.whl#sha256=' in page
    assert (tmp_path / "simple" / "a" / "a-1.whl").read_bytes() == b"wheel"


def test_a_file_has_a_verified_signature_and_checksums(tmp_path: Path) -> None:
    file = tmp_path / "a.jar"
    file.write_bytes(b"jar")
    # The socket of the agent of GnuPG must have a short path.
    with signing.signer(None, tmp_path / "k") as signer:
        signer.sign(file)
    assert not (tmp_path / "k").exists()
    signing.write_checksums(file)
    assert "BEGIN PGP SIGNATURE" in (tmp_path / "a.jar.asc").read_text()
    assert (tmp_path / "a.jar.md5").read_text() == "68995fcbf432492d15484d04a9d2ac40"


def test_a_folder_whose_files_another_process_deletes_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "keys"
    home.mkdir()
    for name in ("S.gpg-agent", "S.gpg-agent.extra", "pubring.kbx"):
        (home / name).write_text("")
    unlink = os.unlink

    def late(path: str, *, dir_fd: int | None = None) -> None:
        unlink(path, dir_fd=dir_fd)
        if path.startswith("S."):
            raise FileNotFoundError(path)

    monkeypatch.setattr(os, "unlink", late)
    signing.delete(home)
    assert not home.exists()


def test_each_downloaded_file_has_a_signature(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    artifacts = ["maven/io/a.jar", "maven/io/a.pom", "maven/io/a-cyclonedx.json"]
    others = ["simple/a/a.whl", "simple/a/a.tar.gz", "a-cyclonedx.json"]
    unsigned = ["NOTES.md", "maven/io/maven-metadata.xml", "simple/index.html"]
    for name in [*artifacts, *others, *unsigned]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    assert signing.sign_release(folder, None) == len(artifacts) + len(others)
    found = {str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file()}
    signatures = {f"{name}.asc" for name in [*artifacts, *others]}
    assert {name for name in found if name.endswith(".asc")} == signatures
    checksums = {f"{name}.sha512" for name in artifacts}
    assert {name for name in found if name.endswith(".sha512")} == checksums


@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_the_python_package_has_the_licence_as_a_file(name: str) -> None:
    copy = ROOT / "python" / name
    # A link would lead out of the sdist.
    assert not copy.is_symlink()
    assert copy.read_bytes() == (ROOT / name).read_bytes()
