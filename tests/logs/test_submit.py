"""``eosctl logs submit`` and the choice of an engine: refusals before any JVM starts, and their messages."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from eosctl.cli import main
from eosctl.services import log_engine, spark_job
from eosctl.services.spark_job import DeployMode, failure_of, scan_job
from spark_log_analytics.submission import knows_yarn

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"


def test_a_dry_run_shows_the_command_and_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["logs", "submit", "/logs", "--out", str(tmp_path), "--master", "yarn", "--deploy-mode", "cluster"]
    settings = ["--conf", "spark.executor.memory=1g", "--conf", "spark.ssl.keyPassword=${env.KEY_PASSWORD}"]
    assert main([*arguments, *settings, "--zone", "Europe/Berlin", "--dry-run"]) == 0
    out = capsys.readouterr().out
    command = shlex.split(out)
    assert command[0].endswith("spark-submit")
    assert command[command.index("--master") + 1] == "yarn"
    assert "spark.ssl.keyPassword=[hidden]" in command
    assert main([*arguments, "--conf", "spark.ssl.keyPassword=open sesame", "--dry-run"]) == 2
    refused = capsys.readouterr()
    assert "sesame" not in refused.out + refused.err
    assert "--zone=Europe/Berlin" in command
    job = next(part for part in command if part.endswith("main.py"))
    assert Path(job).is_file()
    assert command[-2:] == ["--", "/logs"]


def settings_shown(options: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["logs", "submit", "/logs", *options, "--dry-run"]) == 0
    command = shlex.split(capsys.readouterr().out)
    return [command[number + 1] for number, word in enumerate(command) if word == "--conf"]


def test_a_spark_on_this_machine_starts_from_the_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "classes.jsa"
    archive.touch()
    monkeypatch.setattr("spark_log_analytics.session.class_archive", lambda _: archive)
    own = "spark.driver.extraJavaOptions=-Xint"
    settings = settings_shown(["--out", str(tmp_path), "--master", "local[2]", "--conf", own], capsys)
    given = [one for one in settings if one.startswith("spark.driver.extraJavaOptions=")]
    assert f"-XX:SharedArchiveFile={archive}" in given[0]
    assert given[1:] == [own]
    assert {"spark.ui.enabled=false", "spark.sql.ui.explainMode=simple"} <= {*settings}
    cluster = settings_shown(["--out", str(tmp_path), "--master", "spark://host:7077"], capsys)
    assert not any(
        one.startswith(("spark.driver.", "spark.ui.enabled", "spark.sql.", "spark.python.")) for one in cluster
    )


def test_only_workers_of_this_python_run_its_daemon(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    local = ["--out", str(tmp_path), "--master", "local[2]"]
    daemon = "spark.python.daemon.module=spark_log_analytics.daemon"
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    assert daemon in settings_shown(local, capsys)
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/other/python")
    assert daemon not in settings_shown(local, capsys)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_is_shown_how_far_the_tasks_are(
    is_terminal: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    settings = settings_shown(["--out", str(tmp_path), "--master", "yarn", "--conf", "spark.log.level=INFO"], capsys)
    bar = ["spark.ui.showConsoleProgress=true"] if is_terminal else []
    own = ["spark.log.level=WARN", "spark.executorEnv.PYTHONSAFEPATH=1"]
    assert settings == [*own, *bar, "spark.log.level=INFO"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--master", "nonsense"], "not a Spark master"),
        (["--master", "spark://host:7077", "--deploy-mode", "cluster"], "client mode only"),
        (["--conf", "spark.executor.memory"], "sets nothing"),
        (["--zone", "Nowhere/Else"], "no time zone"),
        (["--pattern", "%n"], "cannot be used"),
        (["--out", ""], "--out names no directory"),
        (["--connect", "host:15002"], "not a Spark Connect server"),
        (["--connect", "sc://host", "--master", "yarn"], "--master or --deploy-mode"),
        (["--connect", "sc://host", "--conf", "a=b"], "do not reach a Spark Connect server"),
        (["--connect", "sc://host", "--packages", "io.delta:delta-spark_2.13:4.3.0"], "do not reach"),
    ],
)
def test_options_that_cannot_work_are_refused_immediately(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["logs", "submit", "/logs", "--out", "/result", *options]) == 2
    assert words in capsys.readouterr().err


def test_jars_packages_and_the_pattern_reach_spark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    needs = ["--jars", "a.jar", "--jars", "b.jar", "--packages", "io.delta:delta-spark_2.13:4.3.0"]
    pattern = "%d{ISO8601} %-5p [%t] %c - %m%n"
    arguments = ["logs", "submit", "/logs", "--out", str(tmp_path), "--pattern", pattern, "--dry-run"]
    arguments += ["--baseline", "/yesterday"]
    assert main([*arguments, *needs]) == 0
    command = shlex.split(capsys.readouterr().out)
    assert command[command.index("--jars") + 1] == "a.jar,b.jar"
    assert command[command.index("--packages") + 1] == "io.delta:delta-spark_2.13:4.3.0"
    assert {f"--pattern={pattern}", "--baseline=/yesterday"} < set(command)


def test_a_job_for_a_connect_server_is_shown_without_its_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = tmp_path / "url"
    url.write_text("sc://host:443/;use_ssl=true;token=open sesame\n")
    server = f"${{file:{url}}}"
    assert main(["logs", "submit", "/logs", "--out", str(tmp_path), "--connect", server, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "sesame" not in out
    remote, *command = shlex.split(out)
    assert remote == "SPARK_REMOTE=sc://host:443/;use_ssl=true;token=[hidden]"
    assert command[1:4] == ["-P", "-m", "spark_log_analytics.main"]
    assert command[-2:] == ["--", "/logs"]


def test_what_a_connect_server_needs_here_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = log_engine.find_spec
    monkeypatch.setattr(log_engine, "find_spec", lambda name: None if name == "grpc" else real(name))
    assert main(["logs", "submit", "/logs", "--out", str(tmp_path), "--connect", "sc://127.0.0.1:1"]) == 1
    errors = capsys.readouterr().err
    assert "grpcio" in errors
    assert "eosctl[spark-connect]" in errors


def test_unresolved_spark_packages_have_a_workaround(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "bin" / "spark-submit"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\necho ':: UNRESOLVED DEPENDENCIES ::' >&2\necho 'unresolved dependency: x' >&2\nexit 1\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setattr(spark_job, "spark_obstacle", lambda: None)
    assert main(["logs", "submit", "/logs", "--out", str(tmp_path), "--packages", "io.delta:delta-spark:1"]) == 1
    errors = capsys.readouterr().err
    assert "could not fetch io.delta:delta-spark:1" in errors
    assert "--jars" in errors


def test_without_java_spark_is_refused_and_the_scanner_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["logs", "exceptions", str(FIXTURES), "--engine", "spark"]) == 1
    assert "there is no Java" in capsys.readouterr().err
    assert main(["logs", "exceptions", str(FIXTURES)]) == 0


def test_a_java_that_is_too_old_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["logs", "report", str(FIXTURES), "--engine", "spark"]) == 1
    assert "is Java 11" in capsys.readouterr().err


@pytest.mark.parametrize(("command", "program"), [("submit", "main"), ("submit-data", "kafka_data")])
def test_names_that_begin_with_dashes_are_names(
    command: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from spark_log_analytics import main as scan
    from spark_log_analytics.kafka_data import main as data

    monkeypatch.chdir(tmp_path)
    for name in ("--until-ms=1", "-x.log", "--"):
        Path(name).write_text("x")
    given = ["./--until-ms=1", "./-x.log", "./--"]
    assert main(["logs", command, *given, "--out", "./-out", "--dry-run"]) == 0
    words = shlex.split(capsys.readouterr().out)
    job = next(place for place, word in enumerate(words) if word.endswith(("/main.py", "main.py")))
    read = (scan._parse if program == "main" else data._parse)(words[job + 1 :])
    assert [Path(path).name for path in read.paths] == ["--until-ms=1", "-x.log", "--"]
    assert Path(read.out).name == "-out"


def test_a_problem_keeps_the_name_of_its_file() -> None:
    job = scan_job(["/logs"], "/out", "yarn", DeployMode.CLIENT, (), ())
    assert failure_of(job, 2, ["out.d is a file."]).why == "out.d is a file."
    assert failure_of(job, 1, ["not read: a.log: no such file"]).why == "Not read: a.log: no such file."


def test_yarn_needs_the_settings_of_its_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert main(["logs", "submit", str(FIXTURES), "--out", str(tmp_path / "out"), "--master", "yarn"]) == 2
    said = capsys.readouterr()
    assert "Neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set." in said.err
    assert "spark-submit" not in said.err + said.out


def test_yarn_may_be_known_to_sparks_own_script(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "spark-submit"
    assert not knows_yarn(program, {})
    assert knows_yarn(program, {"YARN_CONF_DIR": "/etc/hadoop"})
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-env.sh").touch()
    assert knows_yarn(program, {})
    assert not knows_yarn(program, {"SPARK_CONF_DIR": str(tmp_path)})
