# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Parser of the command ``splice``.

A command is a module of this package with a function ``register``, which adds the parser of the
command. The parser sets ``run`` to a function that takes the arguments and returns the exit code.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from splice._internal import jvm
from splice.cli import USAGE, doctor, metadata, plan
from splice.cli.checkpoint import commands as checkpoint
from splice.cli.demo import commands as demo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMANDS: tuple[Callable[[argparse._SubParsersAction[argparse.ArgumentParser]], None], ...] = (
    demo.register,
    plan.register,
    metadata.register,
    checkpoint.register,
    doctor.register,
)
"""Functions that add the parser of one command each, in the order of the help."""


class _Parser(argparse.ArgumentParser):
    """Parser that rejects abbreviated options. The parsers of the commands have the same class."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    whole: argparse.ArgumentParser = _Parser(
        prog="splice", description="Inspect sources, checkpoints and stream metadata of Splice."
    )
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for register in COMMANDS:
        register(commands)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: Arguments of the command; the default is the arguments of the process.

    Returns:
        0 without a problem, 1 if the command found a problem, 2 if the command could not run.
    """
    given = parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = given.run
    try:
        return run(given)
    except Exception as error:
        text = _text(error)
        if text is None:
            raise
        print(text, file=sys.stderr)
        return USAGE


def _text(error: Exception) -> str | None:
    """Return the text of an error of Spark, of the JVM or of a file; None for a defect."""
    if isinstance(error, (PySparkException, OSError, UnicodeError)):
        return str(error)
    return jvm.error_text(error)
