# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks the language of comments, documents, options, errors, messages and test names.

A sentence has a match if the sentence has a word of the list, begins with a question word, or has
more than 30 words. The last lines are the share of sentences with a match per kind of text. The
exit code is 1 if a share is above its limit. `--list KIND` prints each match, `--sample SEED`
prints 50 random sentences of each of the four main kinds. Of the options, `--sample` prints
descriptions only, without the lists of allowed values. Paths limit the check to files and folders.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from checks import repository_files

LONGEST = 30
# The greatest share of sentences with a match, in percent.
LIMITS = dict.fromkeys(("comments", "docs", "options", "errors", "messages", "tests"), 1.0)
SAMPLED = ("comments", "docs", "options", "errors")

# A pattern, and the words to write instead.
WORDS: tuple[tuple[str, str], ...] = (
    (r"\bun?answer(s|ed|ing)?\b|\banswer(s|ed|ing)?\b", "response, return, document"),
    (r"\bask(s|ed|ing)?\b", "request, query, call"),
    (r"\bquestions?\b", "request, query, call"),
    (r"\blook(s|ed|ing)?\b(?! up\b)", "poll, refresh, discovery, check, search"),
    (r"\b(say|says|said|saying|tell|tells|told|telling)\b", "set, specify, return, report, name"),
    (r"\b(hear|hears|heard)\b", "receive"),
    (r"\b(is|are|was|were|stays?|be) (silent|mute)\b", "does not respond"),
    (r"\b(is|are|was|were|be|been) away\b", "is unavailable"),
    (r"\bgone\b", "deleted, missing, no longer exists"),
    (
        r"\b(not|is|are|was|were|that) there\b(?! (is|are|was|were|has|have|can|may|must)\b)",
        "exists, is missing",
    ),
    (r"\bgo(es|ing)? (on|over)\b|\bwent (on|over)\b", "continue, resume, move, cut over"),
    (r"\banew\b", "again, recreated"),
    (
        r"\b(give|gives|gave|given|giving) (on|up|no)\b|\bhand(s|ed)? on\b",
        "forward, pass, abandon, return",
    ),
    (r"\bleft alone\b|\blets? be\b", "ignored, rejected, skipped"),
    (r"\bthe doubles\b|\bdoubles of\b|\b(comes?|came) twice\b", "duplicate, is read twice"),
    (
        r"\b(is|are|was|were) no (?!longer\b|more\b|later\b|earlier\b|greater\b|less\b)[a-z]",
        "is not a valid X, does not exist",
    ),
    (r"\b(for )?so (many|long|much)\b", "N, as long as, until"),
    (r"\bat most together\b", "must not add up to more than"),
    (r"\bby (itself|themselves)\b|\bof (its|their) own\b", "automatically, separate"),
    (r"\bfor ever\b|\bforever\b|\bas ever\b", "indefinitely, unchanged"),
    (r"\bbeside\b", "in addition to, next to"),
    (r"\bbehind\b", "after"),
    (r"\bthe leg before\b", "the previous leg"),
    (r"\b(comes?|came) (to|of|from|by)\b", "result in, produce, originate"),
    (r"\b(lies?|lay|stands?|stood) (on|in|at|for|by|where|behind|beyond)\b", "is hosted on, is in"),
    (r"\blean(s|t|ed)? on\b|\bgo(es)? by\b", "depends on, uses"),
    (r"\bnobody\b|\bin vain\b|\bwhatever\b", "no one, without result, any"),
    (r"\bwhat (is|was) left\b|\bthe rest of (it|them)\b", "remaining records (name the noun)"),
    (
        r"\bwhat (is|was|are|it|they|of|came|comes|a|an|each|the|this|that|we|one|has|had|to)\b",
        "the noun",
    ),
    (r"\bof which\b", "a second sentence"),
    (r"\bwritten (down|anew)\b|\bwrites? down\b", "persisted, stored, regenerated"),
    (r"\bknow(s|n|ing)?\b|\bknew\b", "has, detects, is defined"),
    (r"\brefus(e|es|ed|al|als|ing)\b", "reject, is not allowed"),
    (r"\bbears? with\b|\b(hold|holds|held) up\b", "tolerates, blocks"),
    (r"\b(rooms?|the house|doors?|world|fate)\b", "package, module, set-up, scenario"),
    (r"\b(felt|feels?)\b", "the noun: health"),
    (
        r"\bmade (of|again|for|by|from|once|when|only|with)\b|\b(is|are|was|were|be) made\b",
        "created, consists of",
    ),
    (r"\bin front\b", "first, before"),
    (r"\bmeanwhile\b|\bmeantime\b", "name the period"),
    (r"\bthing(s)?\b", "the noun"),
    (r"\bgoes? (to|into|with|through|before|after|back|out)\b", "is written to, precedes"),
    (r"\btakes? over\b|\bput right\b|\bputs? in order\b", "start, correct"),
    (
        r"\b(rows?|bytes|times|requests?|records?|tasks?|offsets|files|messages) an? "
        r"(batch|second|minute|hour|day|partition|slot|trigger|task|poll|cluster)\b",
        "per",
    ),
)
STARTS = re.compile(r"^(What|Who|Whose|Whom|How|Where|Whether|Which|Why|So that|As it|That)\b")

_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in WORDS)
_CODE = re.compile(
    r"`[^`]*`|\[\[[^\]]*\]\]|<[a-z][^<>\s]*>|\$\{[^}]*\}|\bhttps?://\S+|'[\w.<>*=-]+'"
)
_END = re.compile(r"(?<=[\w)'\"][.!?])[)\"'*]*\s+(?=[\w`\[\"'(<$*])|:\s*$")
_WORD = re.compile(r"[A-Za-z][\w'-]*")


class Sentence(NamedTuple):
    """A sentence, the kind of text that has it, and its place."""

    kind: str
    path: str
    line: int
    text: str


def sentences(kind: str, path: str, line: int, text: str) -> Iterator[Sentence]:
    """Split a paragraph into sentences of at least three words, with code replaced by one word."""
    plain = re.sub(r"\s+", " ", _CODE.sub("X", text)).strip(" *-#>|")
    for part in _END.split(plain):
        body = (part or "").strip()
        if len(_WORD.findall(body)) >= 3:
            yield Sentence(kind, path, line, body)


def faults(sentence: Sentence) -> list[str]:
    """List the matches of a sentence, each with the words to write instead."""
    found = [
        f"'{hit.group()}': {instead}"
        for p, instead in _PATTERNS
        if (hit := p.search(sentence.text))
    ]
    if not sentence.text.endswith("?") and (hit := STARTS.match(sentence.text)):
        found.append(f"begins with '{hit.group()}': begin with a noun or a verb")
    words = len(_WORD.findall(sentence.text))
    if words > LONGEST:
        found.append(f"{words} words: at most {LONGEST}")
    return found


def paragraphs(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Join lines into paragraphs, which end at an empty line, a list item or a gap."""
    start, last, body = 0, -1, ""
    for number, line in lines:
        item = re.match(r"(- |\* |\d+\. |@\w+ )", line)
        if body and (not line.strip() or item or number != last + 1):
            yield start, body
            body = ""
        if line.strip():
            start = number if not body else start
            body = f"{body} {line.strip()}".strip()
        last = number
    if body:
        yield start, body


def without_fences(lines: list[tuple[int, str]], mark: re.Pattern[str]) -> list[tuple[int, str]]:
    """Empty the lines of fenced code."""
    inside, kept = False, []
    for number, line in lines:
        fence = mark.search(line)
        kept.append((number, "" if inside or fence else line))
        inside = inside != bool(fence)
    return kept


_SCALA = re.compile(
    r'"""(?:.*?)"""|"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|\'(?:[^\'\\]|\\.)\'', re.DOTALL
)


def scala(path: str, text: str) -> Iterator[Sentence]:
    """Read comments and string literals of a Scala or Java file."""
    comments: list[tuple[int, str]] = []
    for token in _SCALA.finditer(text):
        body, line = token.group(), text.count("\n", 0, token.start()) + 1
        if body.startswith("//"):
            comments.append((line, body[2:].strip()))
        elif body.startswith("/*"):
            inner = body.removeprefix("/**").removeprefix("/*").removesuffix("*/").splitlines() or [
                ""
            ]
            block = [
                (line + n, re.sub(r"^\s*\* ?", "", one).strip()) for n, one in enumerate(inner)
            ]
            block = [(n, re.sub(r"\{\{\{.*?\}\}\}", "X", one)) for n, one in block]
            comments += without_fences(block, re.compile(r"\{\{\{|\}\}\}"))
            comments.append((line + len(inner), ""))
        else:
            content = body.strip('"').replace("\\n", " ").replace('\\"', "")
            kind = "tests" if "/test/" in path else "messages"
            if (
                " " in content
                and re.match(r"[\s$A-Za-z'<(]", content)
                and not re.search(r"[{}=;]{2}|SELECT ", content)
            ):
                yield from sentences(kind, path, line, re.sub(r"\$\{[^}]*\}|\$\w+", "X", content))
    for line, paragraph in paragraphs(
        [c for c in comments if not re.match(r"Copyright the|SPDX", c[1])]
    ):
        yield from sentences("comments", path, line, paragraph)


def python(path: str, text: str) -> Iterator[Sentence]:
    """Read comments, docstrings, string literals and the names of tests of a Python file."""
    comments: list[tuple[int, str]] = []
    before, word = tokenize.NEWLINE, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if word == "def" and token.string.startswith("test_"):
            yield from sentences("tests", path, line, token.string.replace("_", " "))
        word = token.string
        if token.type == tokenize.COMMENT and not re.match(
            r"# (Copyright the|SPDX)|#!|# (noqa|type:)", token.string
        ):
            comments.append((line, token.string.lstrip("# ")))
        elif token.type == tokenize.STRING:
            body = re.sub(r"^[rbfuRBFU]*('''|\"\"\"|'|\")|('''|\"\"\"|'|\")$", "", token.string)
            if before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.NL):
                doc = [(line + n, one.strip()) for n, one in enumerate(body.splitlines())]
                doc = [(n, "" if one.startswith((">>>", "...")) else one) for n, one in doc]
                comments += [*without_fences(doc, re.compile("```")), (line + len(doc), "")]
            elif " " in body and "\n" not in body and re.match(r"[A-Za-z'<({]", body):
                kind = "tests" if path.startswith(("tests/", "python/tests/")) else "messages"
                yield from sentences(kind, path, line, re.sub(r"\{[^}]*\}", "X", body))
        before = token.type if token.type != tokenize.COMMENT else before
    for first, paragraph in paragraphs(comments):
        yield from sentences("comments", path, first, paragraph)


_HASHED = re.compile(
    r"(^|/)(Makefile|CODEOWNERS|\.editorconfig|\.gitattributes)$|^project/(prerequisites|sbt)$|^\.ci/|"
    r"\.(conf|in|ini|properties|toml|ya?ml)$"
)


def hashed(path: str, text: str) -> Iterator[Sentence]:
    """Read the `#` comments of a file of the build, in separate lines and after code."""
    comments: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        hit = re.search(r"(?:^|(?<=\s))#+(.*)", line)
        if not hit or re.match(r"!| Copyright the| SPDX", hit[1]):
            continue
        if line[: hit.start()].strip():
            yield from sentences("comments", path, number, hit[1])
        else:
            comments.append((number, hit[1].strip()))
    for first, paragraph in paragraphs(comments):
        yield from sentences("comments", path, first, paragraph)


def markdown(path: str, text: str) -> Iterator[Sentence]:
    """Read the paragraphs, list items, headings and table cells of a document."""
    lines = without_fences(list(enumerate(text.splitlines(), 1)), re.compile(r"^\s*(```|~~~)"))
    prose: list[tuple[int, str]] = []
    for number, line in lines:
        bare = re.sub(r"\]\([^)]*\)|<!--.*?-->", "]", line.strip())
        if bare.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", bare.strip("|")):
                yield from sentences("docs", path, number, cell)
            prose.append((number, ""))
        elif bare.startswith("#"):
            yield from sentences("docs", path, number, bare)
            prose.append((number, ""))
        else:
            prose.append((number, bare))
    for first, paragraph in paragraphs(prose):
        yield from sentences("docs", path, first, paragraph)


def options(path: str, text: str) -> Iterator[Sentence]:
    """Read the cells of the generated reference of options."""
    for sentence in markdown(path, text):
        yield sentence._replace(kind="options")


def errors(path: str, text: str) -> Iterator[Sentence]:
    """Read the messages of error conditions, at the line of each condition."""
    # The objects with a name are in the same order in the text and in the tree.
    starts = (hit.start() for hit in re.finditer(r'"[^"\\]+"\s*:\s*\{', text))

    def messages(node: dict[str, Any], line: int) -> Iterator[tuple[int, str]]:
        if "message" in node:
            yield line, " ".join(node["message"])
        for child in node.values():
            if isinstance(child, dict):
                yield from messages(child, text.count("\n", 0, next(starts)) + 1)

    for line, message in messages(json.loads(text), 1):
        yield from sentences("errors", path, line, message)


# Generated from sources that are read here, a table of names, and the list of words.
SKIPPED = (
    "docs/reference/errors.md",
    "docs/reference/names.md",
    "docs/reference/python.md",
    "project/language.py",
)


_READERS = {".scala": scala, ".java": scala, ".sbt": scala, ".py": python, ".md": markdown}


def reader_of(path: str) -> Callable[[str, str], Iterator[Sentence]] | None:
    """Return the reader of a file by its name. None: the check does not read the file."""
    if path in SKIPPED or "/kept/" in path:
        return None
    if path == "docs/reference/options.md":
        return options
    if path.endswith("error-conditions.json"):
        return errors
    return _READERS.get(Path(path).suffix, hashed if _HASHED.search(path) else None)


def read(path: str) -> Iterator[Sentence]:
    """Read the sentences of a file."""
    reader = reader_of(path)
    if reader and Path(path).is_file():
        yield from reader(path, Path(path).read_text())


def sampled(kind: str, found: list[Sentence]) -> list[Sentence]:
    """Return the sentences of a kind, without the lists of allowed values of options."""
    ends = re.compile(r"[.!?][)'\"]*$" if kind == "options" else "")
    return [sentence for sentence in found if sentence.kind == kind and ends.search(sentence.text)]


def main() -> int:
    """Print the shares per kind of text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--list", choices=[*LIMITS, "all"], help="print each match")
    parser.add_argument(
        "--sample", type=int, metavar="SEED", help="print 50 random sentences per kind"
    )
    options = parser.parse_args()
    found = [sentence for path in repository_files(*options.paths) for sentence in read(path)]
    if options.sample is not None:
        for kind in SAMPLED:
            drawn = random.Random(options.sample).sample(sampled(kind, found), 50)
            print("\n".join(f"{kind}\t{s.path}:{s.line}\t{s.text}" for s in drawn))
        return 0
    above = False
    for kind, limit in LIMITS.items():
        own = [sentence for sentence in found if sentence.kind == kind]
        matched = [(sentence, wrong) for sentence in own if (wrong := faults(sentence))]
        if options.list in (kind, "all"):
            print("\n".join(f"{s.path}:{s.line}: {'; '.join(w)}\n    {s.text}" for s, w in matched))
        share = 100 * len(matched) / max(1, len(own))
        above = above or share >= limit
        figures = f"{len(matched)} of {len(own)} sentences have a match, {share:.1f} %"
        print(f"{kind}: {figures} (limit {limit:g} %)")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
