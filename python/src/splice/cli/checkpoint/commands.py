# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands for the checkpoint of a query: ``splice checkpoint show`` and others."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from splice._internal import jvm
from splice._internal.reading import source_errors
from splice.cli import OK, PROBLEM, USAGE
from splice.cli.checkpoint import text
from splice.cli.options import add_format, add_kafka, add_source, client
from splice.cli.session import add_conf, local_session

if TYPE_CHECKING:
    from collections.abc import Callable


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``checkpoint`` with its subcommands."""
    group = commands.add_parser(
        "checkpoint",
        help="inspect and verify the checkpoint of a query",
        description=(
            "Commands for the checkpoint of a streaming query over Splice's sources or over"
            " Spark's Kafka source. No command starts a query or changes the checkpoint."
        ),
    )
    actions = group.add_subparsers(title="subcommands", metavar="SUBCOMMAND", required=True)
    _show(actions)
    _verify(actions)
    _offsets(actions)
    _diff(actions)


def _show(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        actions,
        "show",
        "print the batches of a checkpoint, and the position and the side log of each source",
    )
    add_format(command)
    command.set_defaults(run=_run_show)


def _verify(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        actions,
        "verify",
        "find damaged and missing files, and positions that the sources no longer have",
        " The exit code is 0 without a problem, and 1 with a problem.",
    )
    add_kafka(command, "to compare positions with the offsets at the brokers")
    add_format(command)
    command.set_defaults(run=_run_verify)


def _offsets(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        actions, "offsets", "print Kafka offsets as a value of the option startingOffsets"
    )
    command.add_argument(
        "--batch",
        type=int,
        metavar="N",
        help="batch whose end is printed; default: the last committed batch",
    )
    add_source(command, "the only source")
    part = command.add_mutually_exclusive_group()
    part.add_argument(
        "--leg", dest="part", metavar="LEG", help="leg of a hybrid; default: the current leg"
    )
    part.add_argument(
        "--cluster",
        dest="part",
        metavar="CLUSTER",
        help="cluster of a source of many clusters; default: the only cluster",
    )
    command.set_defaults(run=_run_offsets)


def _diff(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        actions,
        "diff",
        "print the positions that differ between two batches, or between two checkpoints",
    )
    command.add_argument(
        "first", metavar="A|OTHER", help="number of the first batch, or another checkpoint"
    )
    command.add_argument(
        "second",
        metavar="B",
        nargs="?",
        type=int,
        help="number of the second batch. Without B, the command compares the last committed"
        " batches of two checkpoints",
    )
    add_format(command)
    command.set_defaults(run=_run_diff)


def _command(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    purpose: str,
    more: str = "",
) -> argparse.ArgumentParser:
    text = f"{purpose[0].upper()}{purpose[1:]}.{more}"
    command = actions.add_parser(name, help=purpose, description=text)
    command.add_argument(
        "checkpoint",
        metavar="CHECKPOINT",
        help="folder of the option checkpointLocation, on any file system of Hadoop",
    )
    add_conf(command)
    return command


def _run_show(given: argparse.Namespace) -> int:
    return _print(given, _call(given, "show"), text.state, _fine)


def _run_verify(given: argparse.Namespace) -> int:
    result = _call(given, "verify", kafka=client(given))
    return _print(given, result, text.findings, _without_problem)


def _run_offsets(given: argparse.Namespace) -> int:
    chosen = {"batch": given.batch, "source": given.source, "part": given.part}
    print(json.dumps(_call(given, "offsets", **chosen), separators=(",", ":")))
    return OK


def _run_diff(given: argparse.Namespace) -> int:
    if given.second is None:
        result = _call(given, "diff", other=given.first)
    else:
        try:
            first = int(given.first)
        except ValueError:
            wrong = (
                f"'{given.first}' is not the number of a batch. Use two numbers, or one other "
                "checkpoint: splice checkpoint diff CHECKPOINT OTHER."
            )
            print(wrong, file=sys.stderr)
            return USAGE
        result = _call(given, "diff", **{"from": first, "until": given.second})
    return _print(given, result, text.difference, _fine)


def _call(given: argparse.Namespace, command: str, **arguments: object) -> dict[str, Any]:
    set_arguments = {name: value for name, value in arguments.items() if value is not None}
    with local_session(given), source_errors():
        found: dict[str, Any] = json.loads(jvm.checkpoint(command, given.checkpoint, set_arguments))
    return found


def _print(
    given: argparse.Namespace,
    result: dict[str, Any],
    shown: Callable[[dict[str, Any]], str],
    is_fine: Callable[[dict[str, Any]], bool],
) -> int:
    print(json.dumps(result, indent=2) if given.format == "json" else shown(result))
    return OK if is_fine(result) else PROBLEM


def _fine(_: dict[str, Any]) -> bool:
    return True


def _without_problem(result: dict[str, Any]) -> bool:
    return not any(found["problem"] for found in result["findings"])
