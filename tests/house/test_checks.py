# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of the repository detect their faults."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


checks = load("project/checks.py")
tally = load(".ci/tally.py")

HEADER = checks.header("a.scala")


def test_a_file_with_its_header_is_fine() -> None:
    assert checks.complaints("jvm/kafka/src/main/scala/Leg.scala", HEADER + "\nclass Leg\n") == []


def test_the_header_follows_a_shebang() -> None:
    fixed = checks.with_header("run.py", "#!/usr/bin/env python3\nprint()\n")
    assert fixed == "#!/usr/bin/env python3\n" + checks.header("run.py") + "\nprint()\n"
    assert not checks.without_header("run.py", fixed)
    assert checks.without_header("run.py", "print()\n")


@pytest.mark.parametrize(
    ("path", "line", "reason"),
    [
        ("jvm/kafka/src/main/scala/A.scala", "package org.apache.spark.sql", "not in org.apache"),
        (
            "jvm/spark/src/main/scala/A.scala",
            "import org.apache.spark.sql.execution.streaming.Sink",
            "differs between",
        ),
        ("jvm/spark/src/test/scala/A.scala", "  Thread.sleep(10)", "waits for a condition"),
        ("jvm/spark/src/test/scala/A.scala", "  timeout(Span(20, Seconds))", "at least 60"),
        ("jvm/spark/src/test/scala/A.scala", "  timeout(Span(120, Seconds))", None),
        ("jvm/spark/src/test/scala/A.scala", "  done.await(9, TimeUnit.SECONDS)", "at least 60"),
        ("jvm/spark/src/test/scala/A.scala", "  done.await(60, TimeUnit.SECONDS)", None),
        ("jvm/spark/src/test/scala/A.scala", "  until(Duration.ofSeconds(20))(x)", "at least 60"),
        ("jvm/spark/src/test/scala/A.scala", "  clock.pass(Duration.ofSeconds(20))", None),
        ("jvm/spark/src/test/scala/A.scala", "  Await.result(all, 10.seconds)", "at least 60"),
        ("jvm/spark/src/test/scala/A.scala", "  Await.result(all, 100.seconds)", None),
        ("jvm/spark/src/test/scala/A.scala", "  thread.join(20000)", "at least 60"),
        ("jvm/spark/src/test/scala/A.scala", "  assert(nanoTime() - a < b)", "count requests"),
        ("jvm/spark/src/test/scala/A.scala", "  assert(took.compareTo(a) < 0)", "count requests"),
        ("jvm/spark/src/test/scala/A.scala", "  assert(elapsed(x).toMillis >= 30)", None),
        ("jvm/spark/src/test/scala/A.scala", "  while (!a && nanoTime() < b) {", "without a pause"),
        ("jvm/spark/src/test/scala/A.scala", "  while (nanoTime() < b) wait(10)", None),
        ("tests/kill/test_a.py", '    wait_for("rows", rows, 30)', "at least 60"),
        ("tests/kill/test_a.py", '    wait_for("rows", lambda: count(30))', None),
        ("tests/kill/test_a.py", "    assert time.monotonic() - begun < 30", "count events"),
        ("jvm/spark/src/main/scala/A.scala", "  @volatile var rows = 0", "is private"),
        ("jvm/spark/src/main/scala/A.scala", "  private var rows = 0", None),
        ("jvm/kafka/src/main/scala/splice/ReadCounts.scala", "  var rows = 0", None),
        ("jvm/spark/src/main/scala/Utility.scala", "", None),
        ("jvm/spark/src/main/scala/util/A.scala", "", "after its concept"),
        ("jvm/spark/src/main/scala/A.scala", "\n" * 300, "more than 300"),
        ("jvm/spark/src/test/scala/A.scala", "\n" * 300, None),
        ("jvm/spark/src/test/scala/A.scala", "\n" * 400, "more than 400"),
    ],
)
def test_each_rule_names_its_line(path: str, line: str, reason: str | None) -> None:
    found = checks.complaints(path, f"{checks.header(path)}\n{line}\n")
    assert len(found) == (1 if reason else 0)
    assert all(reason in complaint and complaint.startswith(f"{path}:") for complaint in found)


@pytest.mark.parametrize(
    ("folder", "suffix", "limited"),
    [
        ("jvm/kafka/src/main/scala/splice/kafka", "scala", True),
        ("jvm/kafka/src/test/scala/splice/kafka", "scala", True),
        ("python/src/splice", "py", True),
        ("python/tests", "py", True),
        ("tests/kill", "py", True),
        ("project", "py", False),
    ],
)
def test_a_folder_has_at_most_12_files(folder: str, suffix: str, limited: bool) -> None:
    files = [f"{folder}/a{number}.{suffix}" for number in range(13)]
    fixed = [f"{folder}/{name}.py" for name in ("__init__", "conftest")]
    assert checks.full_folders([*files[:12], *fixed, f"{folder}/b/a.{suffix}"]) == []
    wanted = [f"{folder}: 13 files, more than 12: split the folder"] if limited else []
    assert checks.full_folders(files) == wanted


def test_a_module_has_at_most_the_lines_of_its_ceiling() -> None:
    ceiling = checks.MAIN_LINES["files"]
    main, other = "jvm/files/src/main/scala/A.scala", "jvm/files/src/test/scala/B.scala"
    assert checks.long_modules({main: "\n" * ceiling, other: "\n"}) == []
    found = checks.long_modules({main: "\n" * ceiling, main.replace("A", "B"): "\n"})
    assert len(found) == 1
    assert found[0].startswith(f"jvm/files: {ceiling + 1} lines of main code")


def test_reports_of_sbt_and_pytest_are_added_up(tmp_path: Path) -> None:
    for folder in ("target", "jvm/kafka/target", "tests/linkage/target"):
        (tmp_path / folder / "test-reports").mkdir(parents=True)
    suite = '<testsuite name="a" tests="{}" failures="{}" errors="{}" skipped="{}"></testsuite>'
    reports = {
        "target/test-reports/it.xml": f"<testsuites>{suite.format(5, 1, 0, 1)}</testsuites>",
        "jvm/kafka/target/test-reports/TEST-a.xml": suite.format(3, 0, 1, 0),
        "tests/linkage/target/test-reports/TEST-b.xml": suite.format(2, 0, 0, 0),
    }
    for path, text in reports.items():
        (tmp_path / path).write_text(text)
    assert tally.count(tmp_path) == tally.Count(7, 2, 1)
    assert str(tally.Count(7, 2, 1)) == "7 passed, 2 failed, 1 skipped"
    assert str(tally.Count(7, 0, 0)) == "7 passed, 0 failed"


def test_the_slowest_tests_of_all_reports_are_listed(tmp_path: Path) -> None:
    for number in (1, 2):
        folder = tmp_path / f"jvm/module-{number}/target/test-reports"
        folder.mkdir(parents=True)
        cases = (
            f'<testcase classname="S{number}" name="t{each}" time="{10 * each + number}"/>'
            for each in range(15)
        )
        (folder / "TEST-a.xml").write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    lines = tally.slowest(tmp_path)
    assert len(lines) == 20
    assert [line.strip() for line in lines[:3]] == [
        "142.0 s  S2: t14",
        "141.0 s  S1: t14",
        "132.0 s  S2: t13",
    ]


def test_the_table_of_steps_marks_a_cost_over_the_ceiling() -> None:
    costs = {"lint": (100.0, 200.0), "unit": (300.0, 1060.0)}
    assert [line.split() for line in tally.steps(costs, {"lint": 200, "unit": 1000})] == [
        ["step", "wall", "s", "CPU", "s", "ceiling"],
        ["lint", "100", "200", "200"],
        ["unit", "300", "1060", "1000", "over", "the", "ceiling"],
        ["sum", "400", "1260", "1200"],
    ]


def test_tests_and_seconds_are_added_up_per_file(tmp_path: Path) -> None:
    reports = tmp_path / "target/test-reports"
    reports.mkdir(parents=True)
    cases = "".join(
        f'<testcase classname="tests.{name}" name="t" time="{time}"/>'
        for name, time in (("a", 1), ("b", 4), ("a", 2))
    )
    (reports / "it.xml").write_text(f"<testsuite>{cases}</testsuite>")
    assert [line.split() for line in tally.files(tmp_path)] == [
        ["4.0", "s", "1", "tests", "tests.b"],
        ["3.0", "s", "2", "tests", "tests.a"],
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="the CPU time is read from /proc")
def test_the_cost_of_a_step_includes_processes_whose_parent_has_ended() -> None:
    # The inner process computes for one second after its parent has ended.
    work = "import os, time\nif not os.fork():\n while time.process_time() < 1: pass"
    measure = (
        "import subprocess, sys, time\n"
        f"sys.path.insert(0, {str(ROOT / '.ci')!r})\n"
        "import steps\n"
        "steps.adopt_orphans()\n"
        "before = steps.Cost.now()\n"
        f"subprocess.run([sys.executable, '-c', {work!r}])\n"
        "while (cpu := steps.Cost.now().since(before).cpu) < 1: time.sleep(0.05)\n"
        "print(cpu)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", measure], capture_output=True, text=True, timeout=400, check=True
    )
    assert float(done.stdout) >= 1
