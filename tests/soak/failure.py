# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Error of a query, from the log of its driver."""

from __future__ import annotations

import re

_BEGIN = "StreamingQueryException: [STREAM_FAILED]"
_LOSS = re.compile(
    r"\[(SPLICE_[A-Z_]*DATA\.[A-Z_]+|SPLICE_CHECKPOINT\.[A-Z_]+|INTERNAL_ERROR[A-Z_]*)\]"
)
_CONDITION = re.compile(r"\[(SPLICE_[A-Z_]+\.[A-Z_]+)\]")


def failure(log: str, healthy: str) -> str:
    """Return the error condition of Splice with which a query failed.

    Args:
        log: Output of the driver, which ends with the exception.
        healthy: Topic that the error must not contain.

    Raises:
        AssertionError: if the query failed with another error, or the error contains the topic.
    """
    _, _, error = log.rpartition(_BEGIN)
    found = _CONDITION.search(error)
    assert found, f"the query failed with no error of Splice:\n{log[-8000:]}"
    # Names of the other topics begin with the name of the healthy topic and a dot.
    text = error[found.start() :].split("\n", 1)[0]
    assert not re.search(rf"{re.escape(healthy)}(?!\.)", text), f"of a healthy topic: {text}"
    return found[1]


def assert_no_loss(log: str) -> None:
    """Assert that a query did not fail because rows were missing or because of a defect.

    Args:
        log: Output of the driver, which ends with the exception.

    Raises:
        AssertionError: if the error is a condition of missing rows, of the checkpoint, or an
            internal error.
    """
    _, begin, error = log.rpartition(_BEGIN)
    found = _LOSS.search(error) if begin else None
    assert not found, f"an unavailable broker does not explain {found and found[1]}:\n{log[-8000:]}"
