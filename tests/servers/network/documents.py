# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""HTTP server with metadata documents for clients that send a secret header."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def document_server(documents: Mapping[str, object], header: str, secret: str) -> Iterator[str]:
    """Serve JSON documents at 127.0.0.1 during a ``with`` block, and return the server's URL.

    A response without a document contains all headers of the request, as pages of real servers may.

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

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, name="documents", daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
