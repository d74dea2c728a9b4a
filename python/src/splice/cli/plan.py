# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Command ``splice plan``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from pyspark.errors import IllegalArgumentException

from splice._internal.reading import planned
from splice.cli import OK, PROBLEM
from splice.cli.options import OptionFile, add_format
from splice.cli.session import add_conf, local_session
from splice.errors import SourceError

if TYPE_CHECKING:
    import argparse

    from splice.queries.plan import SourcePlan


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of the command."""
    command = commands.add_parser(
        "plan",
        help="show legs, files, batches and hand-overs of a query that would start now",
        description=(
            "Show the plan of a query that would start now. The command lists files and sends "
            "requests to servers. The command starts no query and writes nothing. The exit code "
            "is 1 if the query could not start, or would stop at a switch."
        ),
    )
    command.add_argument(
        "file", metavar="FILE", help="options of the source, one name=value per line"
    )
    command.add_argument(
        "--scan",
        action="store_true",
        help="read the columns of hand-over rules with a Spark job, to show their results",
    )
    add_format(command)
    add_conf(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the plan of the source."""
    options = OptionFile(arguments.file)
    with local_session(arguments) as spark:
        try:
            plan = planned(dict(options.options), spark, arguments.scan)
        except (IllegalArgumentException, SourceError) as error:
            option = (error.getMessageParameters() or {}).get("option", "")
            print(f"{options.place(option)}: {error}", file=sys.stderr)
            return PROBLEM
    print(json.dumps(plan.to_dict()) if arguments.format == "json" else plan)
    return PROBLEM if _has_errors(plan) else OK


def _has_errors(plan: SourcePlan) -> bool:
    return any(leg.hand_over is not None and leg.hand_over.error for leg in plan.legs)
