# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Kafka's requests, seen in the bytes of a connection."""

from __future__ import annotations

import struct

LIST_OFFSETS = 2
METADATA = 3
OFFSET_COMMIT = 8
DESCRIBE_CLUSTER = 60
DESCRIBE_TOPICS = 75

_SIZE, _KIND = struct.Struct(">i"), struct.Struct(">h")


class Requests:
    """The requests of one connection, which come in pieces of any size."""

    def __init__(self) -> None:
        """Begins where the connection does."""
        self._rest = b""
        self._left = 0

    def begun_in(self, piece: bytes) -> list[int]:
        """Gives the kinds (API keys) of the requests of which enough has come with this piece."""
        kinds: list[int] = []
        self._rest += piece
        while True:
            skipped = min(self._left, len(self._rest))
            self._rest, self._left = self._rest[skipped:], self._left - skipped
            if self._left or len(self._rest) < _SIZE.size + _KIND.size:
                return kinds
            kinds += _KIND.unpack_from(self._rest, _SIZE.size)
            self._left = _SIZE.size + _SIZE.unpack_from(self._rest)[0]
