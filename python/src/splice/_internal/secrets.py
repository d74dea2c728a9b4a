# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Redaction of secrets in printed options. The JVM hides the same values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HIDDEN = "*********(redacted)"

_SECRET_NAME = re.compile(
    r"(?i)password|passwd|passphrase|pwd|secret|token|jaas|credential|private|authorization|cookie"
    r"|access[._-]?key|account[._-]?key|api[._-]?key|keystore[._]key|certificate|user[._]info"
    r"|sas[._]|signature"
)
# The options ``credentials.<name>.kafka.<property>`` are secret only if the property is secret.
_CREDENTIALS = re.compile(r"(?i)(^|\.)credentials\..*?\.kafka\.")
_HEADER_NAME = re.compile(r"(?i)(?:.*\.)?metadata\.header\..+")
_ADDRESS_NAME = re.compile(r"(?i)(?:.*\.)?metadata\.url")
_CLASS_OR_PLACE = (".class", ".location", ".url", ".type")
_REFERENCE = re.compile(r"\$\{[^}:\s]+:[^}]+\}")
_HTTP_USER = re.compile(r"(?i)(https?://)[^/?#\s]+@")
_QUERY = re.compile(r"(?s)[?#].*")
_USER_INFO = re.compile(r"(://)[^/?#\s]*:[^/?#\s]*@")
_SIGNED_QUERY = re.compile(
    r"(?i)([?&#;][^=?&#;\s]*(?:sig|token|code|key|secret|passw|pwd|credential|auth|session|jwt"
    r"|x-amz-|x-goog-)[^=?&#;\s]*=)[^&#;\s]+"
)


def shown(options: Mapping[str, str]) -> str:
    """Return options as ``name='value'``, with secret values hidden."""
    return ", ".join(f"{name}={redacted(name, value)!r}" for name, value in options.items())


def redacted(name: str, value: str) -> str:
    """Return the value of an option, with secrets hidden."""
    if _is_secret(name):
        return value if _REFERENCE.fullmatch(value) else HIDDEN
    if ":/" in value:
        for user in (_HTTP_USER, _USER_INFO):
            value = user.sub(rf"\1{HIDDEN}@", value)
        value = _SIGNED_QUERY.sub(rf"\1{HIDDEN}", value)
    return _QUERY.sub(f"?{HIDDEN}", value) if _ADDRESS_NAME.fullmatch(name) else value


def _is_secret(name: str) -> bool:
    if _HEADER_NAME.fullmatch(name):
        return True
    return bool(_SECRET_NAME.search(_CREDENTIALS.sub("", name, 1))) and not name.lower().endswith(
        _CLASS_OR_PLACE
    )
