# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""HDFS with one NameNode and one DataNode."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from servers.class_data import java
from servers.jars import ROOT, staged
from servers.storage.store import Store

_STAGED = ROOT / "tests" / "stores" / "target" / "hdfs"
_PROGRAM = Path(__file__).with_name("HdfsServer.java")


class HdfsStore(Store):
    """A NameNode and a DataNode in one process."""

    @property
    def conf(self) -> Mapping[str, str]:
        """Return the Hadoop settings of a client."""
        return {"dfs.replication": "1"}

    def url(self, path: str) -> str:
        """Return the address of a file or folder."""
        return f"hdfs://127.0.0.1:{self.ports[0]}/{path}"

    def files(self, path: str) -> Mapping[str, bytes]:
        """Return the contents of all files in a folder, by their relative paths."""
        return {name: self._get(f"{path}/{name}", "OPEN") for name in self._names(path)}

    def _names(self, path: str, prefix: str = "") -> Iterator[str]:
        try:
            listed = json.loads(self._get(path, "LISTSTATUS"))["FileStatuses"]["FileStatus"]
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return
            raise
        for found in listed:
            name = found["pathSuffix"]
            if found["type"] == "DIRECTORY":
                yield from self._names(f"{path}/{name}", f"{prefix}{name}/")
            else:
                yield prefix + name

    def _get(self, path: str, what: str) -> bytes:
        address = f"http://127.0.0.1:{self.ports[1]}/webhdfs/v1/{path}?op={what}"
        with urllib.request.urlopen(address, timeout=30) as response:
            body: Any = response.read()
            return bytes(body)

    def _command(self) -> Sequence[str]:
        jars = os.pathsep.join(map(str, staged(_STAGED, "stores/stage")))
        classes = self._folder / "classes"
        compiler = Path(java()).with_name("javac")
        subprocess.run([str(compiler), "-cp", jars, "-d", str(classes), str(_PROGRAM)], check=True)
        quick = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
        path = os.pathsep.join([str(classes), jars])
        return [java(), *quick, "-cp", path, "HdfsServer", str(self._folder), *map(str, self.ports)]

    def _answers(self) -> bool:
        return (self._folder / "ready").exists()
