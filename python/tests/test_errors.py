# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Conditions of errors that the package raises itself."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest

import splice
from splice import KafkaSource, OptionError, SetupError, SourceError, SpliceError

PACKAGE = Path(splice.__file__).parent
DECLARED = json.loads((PACKAGE / "_internal" / "error-conditions.json").read_text("utf-8"))


def test_each_declared_condition_is_raised_and_each_raised_one_is_declared() -> None:
    declared = [f"{area}.{name}" for area, node in DECLARED.items() for name in node["subClass"]]
    source = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    raised = re.findall(r"(?:OptionError|SetupError)\.of\(\s*\"([A-Z_.]+)\"", source)
    assert sorted(set(raised)) == sorted(declared)


def test_an_error_has_condition_parameters_and_sqlstate() -> None:
    with pytest.raises(OptionError) as raised:
        KafkaSource.builder().topics("a,<value>")
    error = raised.value
    assert error.getCondition() == "SPLICE_BUILDER.INVALID_TOPIC_NAME"
    assert error.getMessageParameters() == {"value": "'a,<value>'"}
    assert error.getSqlState() == "42616"
    assert str(error).startswith(
        "[SPLICE_BUILDER.INVALID_TOPIC_NAME] 'a,<value>' is not a valid topic name"
    )
    assert str(error).endswith(" SQLSTATE: 42616")
    with pytest.warns(FutureWarning):
        assert error.getErrorClass() == error.getCondition()


def test_all_errors_have_one_base_and_are_siblings() -> None:
    from pyspark.errors import PySparkException

    assert issubclass(SpliceError, PySparkException)
    for one in (OptionError, SetupError, SourceError):
        assert issubclass(one, SpliceError)
    assert not issubclass(OptionError, SourceError)


def test_an_error_can_be_pickled() -> None:
    error = SetupError.of("SPLICE_SETUP.CLASSIC_SESSION_NOT_FOUND", function="plan(...)")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (SetupError, str(error))
    assert (again.getCondition(), again.getSqlState()) == (error.getCondition(), "55000")
    assert again.getMessageParameters() == {"function": "plan(...)"}
