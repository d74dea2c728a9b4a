# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Key stores and a trust store for one run, created with the JDK's keytool."""

from __future__ import annotations

import os
import secrets
import subprocess
from pathlib import Path


class Certificates:
    """Certificates of a server and a client that trust only each other.

    Each has a separate key store with a key. One trust store contains both certificates.
    """

    def __init__(self, folder: Path) -> None:
        """Create the stores in a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.password = secrets.token_hex(12)
        self.trust = folder / "trust.p12"
        self.server = self._key_store(folder / "server.p12", "server")
        self.client = self._key_store(folder / "client.p12", "client")

    def _key_store(self, store: Path, name: str) -> Path:
        certificate = store.with_suffix(".pem")
        key = ["-keyalg", "EC", "-groupname", "secp256r1", "-validity", "30"]
        names = ["-dname", f"CN={name}", "-ext", "SAN=IP:127.0.0.1,DNS:localhost"]
        self._keytool(store, "-genkeypair", "-alias", name, *key, *names)
        self._keytool(store, "-exportcert", "-alias", name, "-rfc", "-file", str(certificate))
        imported = ["-importcert", "-noprompt", "-alias", name, "-file", str(certificate)]
        self._keytool(self.trust, *imported)
        return store

    def private_key(self) -> str:
        """Return the client's private key as PEM text."""
        program = Path(__file__).with_name("PrivateKey.java")
        return self._run("java", str(program), str(self.client), self.client.stem)

    def _keytool(self, store: Path, *arguments: str) -> None:
        store_is = ["-keystore", str(store), "-storetype", "PKCS12", "-storepass:env", "STORE_PASS"]
        self._run("keytool", *arguments, *store_is)

    def _run(self, name: str, *arguments: str) -> str:
        home = os.environ.get("JAVA_HOME")
        tool = str(Path(home, "bin", name)) if home else name
        done = subprocess.run(
            [tool, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "STORE_PASS": self.password},
        )
        if done.returncode:
            raise RuntimeError(f"{name} {arguments[0]} failed: {done.stdout}{done.stderr}")
        return done.stdout
