# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""An S3-compatible server. The arguments are a port and a folder.

One request runs at a time, so a condition and its write are one step. The server kills a driver at
the step in the file ``plan``, and fails multipart uploads while the file ``no-uploads`` exists.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server


class Steps:
    """Application of the server, which kills drivers before and after objects are written."""

    def __init__(self, application: Any, folder: Path) -> None:
        """Create an application from another application and the folder of the plan."""
        self._application, self._folder = application, folder
        self._lock = threading.Lock()
        self._last, self._met = "", 0

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Respond to a request."""
        path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
        upload = environ["REQUEST_METHOD"] == "POST" and query.startswith("uploads")
        part = "partNumber" in query
        writes = environ["REQUEST_METHOD"] == "PUT" and not part and not path.endswith("/")
        with self._lock:
            if upload and (self._folder / "no-uploads").exists():
                start_response("400 Bad Request", [("Content-Length", "0")])
                return [b""]
            if writes:
                self._step("before", path)
            response = list(self._application(environ, start_response))
            if writes:
                self._step("after", path)
            return response

    def _step(self, when: str, path: str) -> None:
        file = self._folder / "plan"
        if not file.exists():
            return
        plan = file.read_text()
        if plan != self._last:
            self._last, self._met = plan, 0
        wanted, nth, group, name = plan.split(" ", 3)
        if when != wanted or not re.search(name, path):
            return
        self._met += 1
        if self._met == int(nth):
            file.unlink()
            (self._folder / "acted").write_text(f"{when} {path}")
            os.killpg(int(group), signal.SIGKILL)


def main(port: int, folder: Path) -> None:
    """Serve until the process ends."""
    application = Steps(DomainDispatcherApplication(create_backend_app), folder)
    server = make_server(
        "127.0.0.1", port, application, threaded=True, request_handler=MotoRequestHandler
    )
    server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
