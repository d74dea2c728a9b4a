# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""One instance of each store for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from servers.storage.hdfs import HdfsStore
from servers.storage.s3 import S3Store
from servers.storage.store import Store

KINDS: Sequence[type[Store]] = (HdfsStore, S3Store)


@pytest.fixture(scope="module", params=KINDS)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """A server that stores checkpoints."""
    with request.param() as server:
        yield server
