# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Keeps secrets out of everything that is printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_HIDDEN = "*********(redacted)"
_SECRET_NAME = re.compile(
    r"secret|password|passwd|token|credential|jaas|access[._]?key|account[._]?key|api[._]?key"
    r"|private[._]?key|keystore[._]key|certificate|user[._]info|sas[._]|signature",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\$\{[^}]+\}")
_USER_INFO = re.compile(r"(?<=://)[^/@\s]*:[^/@\s]*(?=@)")
_SIGNED_QUERY = re.compile(r"(?i)((?:[?&](?:sig|signature|token|[a-z-]*credential))=)[^&\s]+")


def shown(options: Mapping[str, str]) -> str:
    """Renders options as ``name='value'``, with secret values hidden."""
    return ", ".join(f"{name}={_value(name, value)}" for name, value in options.items())


def _value(name: str, value: str) -> str:
    if _SECRET_NAME.search(name) and not _REFERENCE.fullmatch(value):
        return _HIDDEN
    return repr(_SIGNED_QUERY.sub(rf"\1{_HIDDEN}", _USER_INFO.sub(_HIDDEN, value)))
