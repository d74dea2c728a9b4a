# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Findings of ``splice doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(str, Enum):
    """Result of a check."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Finding:
    """Result of one check.

    Attributes:
        state: Result.
        text: Subject of the check, and its state.
        step: Next step of the user; empty without a problem.
    """

    state: State
    text: str
    step: str = ""

    def __str__(self) -> str:
        """Return the state, the text and the next step, in at most two lines."""
        line = f"{self.state.value:<8} {self.text}"
        return f"{line}\n{'':<8} next step: {self.step}" if self.step else line


def ok(text: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(State.OK, text)


def warning(text: str, step: str) -> Finding:
    """Return a finding that may be a problem."""
    return Finding(State.WARNING, text, step)


def failed(text: str, step: str) -> Finding:
    """Return a finding that is a problem."""
    return Finding(State.FAILED, text, step)
