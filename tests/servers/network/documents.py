# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""HTTP server with metadata documents for clients that send a secret header."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType


class DocumentServer:
    """Server of JSON documents at 127.0.0.1, which exists within a ``with`` block.

    A response without a document contains all headers of the request, as pages of real servers may.
    """

    def __init__(self, documents: Mapping[str, object], header: str, secret: str) -> None:
        """Create a server.

        Args:
            documents: Documents by path, such as ``/streams``.
            header: Name of the header that a request needs.
            secret: Value of this header.
        """

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                document = documents.get(self.path.partition("?")[0])
                is_known = self.headers.get(header) == secret
                body = json.dumps(document) if is_known else f"rejected: {self.headers}"
                self.send_response(200 if document and is_known else 403)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        """Return the URL of the server without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> DocumentServer:
        """Start to respond."""
        threading.Thread(target=self._server.serve_forever, name="documents", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all connections and stop listening."""
        self._server.shutdown()
        self._server.server_close()
