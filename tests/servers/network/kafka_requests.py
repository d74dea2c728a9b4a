# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Parser of Kafka requests in the bytes of a connection."""

from __future__ import annotations

import struct

OFFSET_COMMIT = 8
DESCRIBE_CLUSTER = 60

_SIZE, _KIND = struct.Struct(">i"), struct.Struct(">h")


class Requests:
    """Parser of the requests of one connection, which arrive in pieces of any size."""

    def __init__(self) -> None:
        """Create a parser for the begin of a connection."""
        self._rest = b""
        self._left = 0

    def begun_in(self, piece: bytes) -> list[int]:
        """Return the kinds (API keys) of requests whose kind is complete with this piece."""
        kinds: list[int] = []
        self._rest += piece
        while True:
            skipped = min(self._left, len(self._rest))
            self._rest, self._left = self._rest[skipped:], self._left - skipped
            if self._left or len(self._rest) < _SIZE.size + _KIND.size:
                return kinds
            kinds += _KIND.unpack_from(self._rest, _SIZE.size)
            self._left = _SIZE.size + _SIZE.unpack_from(self._rest)[0]
