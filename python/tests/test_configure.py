# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Effects of configure() on a builder, without a JVM."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from splice import SetupError, configure
from splice._internal.jars import how_to_submit, jar_paths

CONNECTOR = "splice-spark_2.13-9.9.jar"
CLIENT = "kafka-clients-3.9.2.jar"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        "PYSPARK_SUBMIT_ARGS",
        "PYSPARK_GATEWAY_PORT",
        "SPARK_REMOTE",
        "SPARK_CONNECT_MODE_ENABLED",
        "SPARK_CONF_DIR",
        "SPARK_HOME",
        "SPLICE_JARS",
    ]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("splice._internal.jvm.running", lambda: None)


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "jars"
    folder.mkdir()
    (folder / CONNECTOR).touch()
    (folder / CLIENT).touch()
    (folder / "other-1.0.jar").touch()
    monkeypatch.setattr("splice._internal.jars._CARRIED", folder)
    return folder


def jars_of(builder: SparkSession.Builder) -> list[str]:
    return str(builder._options["spark.jars"]).split(",")


def test_both_jars_are_appended(jars: Path) -> None:
    builder = SparkSession.builder
    assert configure(builder) is builder
    assert jars_of(builder) == [str(jars / CONNECTOR), str(jars / CLIENT)]


def test_jars_of_the_builder_are_kept(jars: Path) -> None:
    builder = configure(SparkSession.builder.config("spark.jars", "/mine.jar,hdfs:///other.jar"))
    assert jars_of(builder)[:2] == ["/mine.jar", "hdfs:///other.jar"]
    assert len(jars_of(builder)) == 4


def test_packages_of_the_builder_are_kept(jars: Path) -> None:
    builder = configure(SparkSession.builder.config("spark.jars.packages", "io.delta:delta:1"))
    assert builder._options["spark.jars.packages"] == "io.delta:delta:1"
    assert len(jars_of(builder)) == 2


def test_jars_of_spark_defaults_are_kept(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# spark.jars /no.jar\nspark.jars.packages a:b:1\nspark.jars   /site.jar \n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert jars_of(configure(SparkSession.builder))[0] == "/site.jar"
    assert (
        jars_of(configure(SparkSession.builder.config("spark.jars", "/mine.jar")))[0] == "/mine.jar"
    )


def test_twice_is_once(jars: Path) -> None:
    assert jars_of(configure(configure(SparkSession.builder))) == jars_of(
        configure(SparkSession.builder)
    )


@pytest.mark.parametrize("other", ["splice-spark_2.13-9.8.jar", "kafka-clients-4.1.0.jar"])
def test_another_version_is_rejected(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    with pytest.raises(SetupError, match=rf"has {other}.*Remove {other}"):
        configure(SparkSession.builder.config("spark.jars", f"/a.jar, hdfs:///lib/{other}"))
    (tmp_path / "spark-defaults.conf").write_text(f"spark.jars /site/{other}\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    with pytest.raises(SetupError, match=other):
        configure(SparkSession.builder.config(map={}).appName("x"))


def test_a_package_of_spark_defaults_is_enough(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.jars.packages io.github.splice:splice-spark_2.13:9.9\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert "spark.jars" not in configure(SparkSession.builder)._options


def test_a_builder_with_the_package_is_unchanged(jars: Path) -> None:
    builder = SparkSession.builder.config(
        "spark.jars.packages", "io.github.splice:splice-spark_2.13:9.9"
    )
    assert "spark.jars" not in configure(builder)._options


def test_a_checkout_takes_the_jars_from_the_environment(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("splice._internal.jars._CARRIED", tmp_path / "none")
    with pytest.raises(SetupError, match=r"make jar.*SPLICE_JARS"):
        jar_paths()
    monkeypatch.setenv("SPLICE_JARS", str(jars))
    assert [path.name for path in jar_paths()] == [CONNECTOR, CLIENT]


def test_two_versions_are_rejected(jars: Path) -> None:
    (jars / "splice-spark_2.13-9.8.jar").touch()
    with pytest.raises(
        SetupError, match=r"exactly one file splice-spark_2\.13-\*\.jar, but .* has 2"
    ):
        configure(SparkSession.builder)


@pytest.mark.parametrize(
    "arguments", ["--jars /a.jar", "--jars=/a.jar", "--conf spark.jars=/a.jar"]
)
def test_jars_of_submit_arguments_would_win(
    jars: Path, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{arguments} pyspark-shell")
    with pytest.raises(SetupError, match=r"PYSPARK_SUBMIT_ARGS sets jars.*--jars .*--packages"):
        configure(SparkSession.builder)


def test_submit_arguments_with_splice_are_enough(
    jars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--jars /x/{CONNECTOR} pyspark-shell")
    assert "spark.jars" not in configure(SparkSession.builder)._options


def test_a_connect_builder_is_rejected(jars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SetupError, match=r"server's class path.*--jars .*--packages"):
        configure(SparkSession.builder.remote("sc://localhost"))
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    with pytest.raises(SetupError, match="do not call configure"):
        configure(SparkSession.builder)


def test_a_local_connect_server_takes_the_jars(jars: Path) -> None:
    assert len(jars_of(configure(SparkSession.builder.remote("local[2]")))) == 2


def test_a_builder_without_options_is_rejected(jars: Path) -> None:
    with pytest.raises(SetupError, match=r"cannot read.*splice-spark_2\.13:9\.9"):
        configure(object())  # type: ignore[arg-type]


def test_the_arguments_of_a_snapshot_name_its_repository(
    jars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--repositories" not in how_to_submit()
    (jars / CONNECTOR).rename(jars / "splice-spark_2.13-9.9-SNAPSHOT.jar")
    assert how_to_submit().endswith(
        " --packages io.github.splice:splice-spark_2.13:9.9-SNAPSHOT"
        " --repositories <repository of 'make jar'>"
    )
    (jars / "splice-spark_2.13-9.9-SNAPSHOT.jar").unlink()
    assert how_to_submit().endswith(" --packages io.github.splice:splice-spark_2.13:<version>")


@pytest.mark.parametrize("submitted", [True, False])
def test_a_running_jvm_without_the_jar_is_rejected(
    jars: Path, monkeypatch: pytest.MonkeyPatch, submitted: bool
) -> None:
    monkeypatch.setattr("splice._internal.jvm.running", object)
    monkeypatch.setattr("splice._internal.jvm.connect", object)
    monkeypatch.setattr("splice._internal.jvm.entry_point", lambda _: None)
    if submitted:
        monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    where = "spark-submit started" if submitted else "already exists"
    with pytest.raises(SetupError, match=f"{where}.*--jars .*--packages io.github.splice:"):
        configure(SparkSession.builder)


def test_a_running_jvm_with_the_jar_needs_nothing(
    jars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("splice._internal.jvm.running", object)
    monkeypatch.setattr("splice._internal.jvm.entry_point", lambda _: object())
    assert "spark.jars" not in configure(SparkSession.builder)._options
