# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""S3-compatible server, and the S3A client of Hadoop."""

from __future__ import annotations

import functools
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from servers.jars import ROOT, staged
from servers.storage.store import Store

_STAGED = ROOT / "tests" / "stores" / "target" / "s3a"
_PROGRAM = Path(__file__).with_name("s3_server.py")

_BUCKET = "checkpoints"
_REGION = "us-east-1"
_KEY = "test"


class S3Store(Store):
    """Server with one bucket."""

    def __enter__(self) -> Store:
        """Start the server, wait until the server is ready, and create the bucket."""
        super().__enter__()
        self._client.create_bucket(Bucket=_BUCKET)
        self.jars = staged(_STAGED, "stores/stage")
        return self

    @property
    def conf(self) -> Mapping[str, str]:
        """Return the Hadoop settings of a client."""
        return {
            "fs.s3a.endpoint": self._endpoint,
            "fs.s3a.endpoint.region": _REGION,
            "fs.s3a.path.style.access": "true",
            "fs.s3a.access.key": _KEY,
            "fs.s3a.secret.key": _KEY,
            "fs.s3a.attempts.maximum": "1",
            "fs.s3a.retry.limit": "1",
        }

    def url(self, path: str) -> str:
        """Return the address of a file or folder."""
        return f"s3a://{_BUCKET}/{path}"

    def files(self, path: str) -> Mapping[str, bytes]:
        """Return the contents of all files in a folder, by their relative paths."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=_BUCKET, Prefix=f"{path}/"
        )
        keys = [found["Key"] for page in pages for found in page.get("Contents", [])]
        return {
            key.removeprefix(f"{path}/"): self._client.get_object(Bucket=_BUCKET, Key=key)[
                "Body"
            ].read()
            for key in keys
            if not key.endswith("/")
        }

    def fail_uploads(self) -> None:
        """Make each multipart upload fail from now on."""
        (self._folder / "no-uploads").touch()

    @property
    def _endpoint(self) -> str:
        return f"http://127.0.0.1:{self.ports[0]}"

    @functools.cached_property
    def _client(self) -> Any:
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self._endpoint,
            region_name=_REGION,
            aws_access_key_id=_KEY,
            aws_secret_access_key=_KEY,
        )

    def _command(self) -> Sequence[str]:
        return [sys.executable, str(_PROGRAM), str(self.ports[0]), str(self._folder)]

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self._endpoint}/moto-api/", timeout=5):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
