# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/command-line.md from the parsers of the command ``splice``."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "command-line.md"

_HEAD = """# Command line

The Python package installs the command `splice`. `python -m splice` is the same command.

| Exit code | Meaning |
| --- | --- |
| 0 | The command found no problem. |
| 1 | The command found a problem, and printed the problem. |
| 2 | The arguments are invalid, or the command could not run. |

Only `splice demo` starts a query. A command writes files or topics only if its description names
them. Commands that need a JVM start a local Spark session,
which takes a few seconds. `--conf` sets the settings of this session, such as the access keys of an
object store.

A file of options has one `name=value` per line, with the names of `.option(name, value)`. Lines
that begin with `#` are comments:

```text
# The options of the query.
source=dynamicKafka
metadata.file=/config/streams.yaml
streams=orders
```
"""
_TAIL = "<!-- Generated from the code by project/command_line.py; do not edit. -->\n"


def page() -> str:
    """Return the text of the page."""
    # The module is in the source folder of the package.
    sys.path.insert(0, str(ROOT / "python" / "src"))
    from splice.cli.main import parser

    return "\n".join([_HEAD, *_commands(parser()), _TAIL])


def _commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    for name, command in _choices(parser).items():
        inner = _choices(command)
        level = "##" if parser.prog.count(" ") == 0 else "###"
        yield f"{level} {parser.prog} {name}\n\n{_wrapped(command.description)}\n"
        if inner:
            yield from _commands(command)
        else:
            yield f"```text\n{_usage(command)}\n```\n"
            yield _table(command)


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the positional arguments, and then the options."""
    found = [a for a in parser._actions if not isinstance(a, argparse._HelpAction)]
    return sorted(found, key=lambda action: bool(action.option_strings))


def _usage(parser: argparse.ArgumentParser) -> str:
    parts = [parser.prog]
    for action in _arguments(parser):
        if not action.option_strings:
            parts.append(_value(action))
            continue
        text = " ".join(filter(None, [action.option_strings[-1], _value(action)]))
        parts.append(text if action.required else f"[{text}]")
    return " ".join(parts)


def _value(action: argparse.Action) -> str:
    """Return the value of an argument as the usage shows it; empty for a flag."""
    if action.nargs == 0:
        return ""
    if action.choices is not None and action.metavar is None:
        name = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        name = str(action.metavar or action.dest.upper())
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(str(action.nargs), name)


def _table(parser: argparse.ArgumentParser) -> str:
    lines = ["| Argument | Meaning |", "| --- | --- |"]
    for action in _arguments(parser):
        names = ", ".join(action.option_strings)
        shown = " ".join(filter(None, [names, _value(action)]))
        meaning = _escaped(action.help or "").rstrip(".")
        lines.append(f"| `{_escaped(shown)}` | {meaning[:1].upper()}{meaning[1:]}. |")
    return "\n".join(lines) + "\n"


def _wrapped(text: str | None) -> str:
    return textwrap.fill(_escaped(text or ""), 100, break_on_hyphens=False)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("%%", "%")


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
