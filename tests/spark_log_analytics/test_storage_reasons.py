"""Errors of storage name the cause and the remedy, by texts that Hadoop printed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spark_log_analytics.job import plan_reading
from spark_log_analytics.main import main
from spark_log_analytics.outcome import PROBLEMS, reason_of, report_problem
from spark_log_analytics.storage_problems import storage_problem, storage_reason

REFUSED = (
    "software.amazon.awssdk.services.s3.model.S3Exception: {} (Service: S3, Status Code: 403, Request ID: D82B) "
    "(SDK Attempt Count: 1)"
)
SDK = "software.amazon.awssdk.core.exception.SdkClientException: Unable to execute HTTP request: "
LOADING = "An error occurred while calling o64.load.\n: "


@pytest.mark.parametrize(
    ("text", "cause", "remedy"),
    [
        (
            "java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found",
            "Spark has no S3AFileSystem",
            "--packages org.apache.hadoop:hadoop-aws:VERSION",
        ),
        (
            "java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem not found",
            "Spark has no SecureAzureBlobFileSystem",
            "--packages org.apache.hadoop:hadoop-azure:VERSION",
        ),
        (
            "Caused by: java.lang.ClassNotFoundException: software.amazon.s3.analyticsaccelerator.S3SdkObjectClient\n",
            "lack the class software.amazon.s3.analyticsaccelerator.S3SdkObjectClient",
            "add the dependencies",
        ),
        (
            'org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "foo"',
            "file system for foo://",
            "correct the URL",
        ),
        (
            (
                f"{LOADING}java.nio.file.AccessDeniedException: s3a://logs/x: getFileStatus on s3a://logs/x: "
                f"{REFUSED.format('FORBIDDEN')}:null"
            ),
            "the store denies access (HTTP status 403)",
            "check spark.hadoop.fs.s3a.access.key",
        ),
        (
            (
                f"{LOADING}java.nio.file.AccessDeniedException: t/_temporary/0: PUT 0-byte object  on t/_temporary/0: "
                f"{REFUSED.format('Access Denied')}:AccessDenied"
            ),
            "the store denies these credentials PUT 0-byte object on t/_temporary/0",
            "grant the permission",
        ),
        (
            f"{LOADING}java.nio.file.AccessDeniedException: s3a://x: {REFUSED.format('Denied')}:InvalidAccessKeyId",
            "does not accept the credentials (InvalidAccessKeyId)",
            "correct spark.hadoop.fs.s3a.access.key",
        ),
        (
            (
                f"{LOADING}java.nio.file.AccessDeniedException: s3a://logs/x: org.apache.hadoop.fs.s3a.auth."
                "NoAuthWithAWSException: No AWS Credentials provided by SimpleAWSCredentialsProvider"
            ),
            "Spark has no credentials",
            "AWS_ACCESS_KEY_ID",
        ),
        (
            (
                f"{LOADING}org.apache.hadoop.fs.s3a.UnknownStoreException: `s3a://november/x': getFileStatus on "
                "s3a://november/x: software.amazon.awssdk.services.s3.model.NoSuchBucketException: The "
                "specified bucket does not exist"
            ),
            "the bucket november does not exist",
            "create the bucket",
        ),
        (
            (
                f"{LOADING}java.net.ConnectException: getFileStatus on s3a://logs/x: {SDK}Connect to 127.0.0.1:1 "
                "[/127.0.0.1] failed: Connection refused (SDK Attempt Count: 3)"
            ),
            "127.0.0.1:1 does not answer (Connection refused)",
            "correct the URL",
        ),
        (
            (
                f"{LOADING}java.net.UnknownHostException: getFileStatus on s3a://logs/x: {SDK}store.invalid\n"
                "Caused by: java.net.UnknownHostException: store.invalid\n\tat java.base/java.net.Sun"
            ),
            "the host store.invalid is unknown",
            "correct the URL",
        ),
        (
            (
                f"{LOADING}java.net.ConnectException: Call From vm/127.0.0.1 to localhost:1 failed on "
                "connection exception: java.net.ConnectException: Connection refused; For more details see: wiki"
            ),
            "localhost:1 does not answer (Connection refused)",
            "correct the URL",
        ),
        (
            f"{LOADING}java.io.IOException: Incomplete HDFS URI, no host: hdfs:///logs",
            "hdfs:///logs does not name a name node",
            "HADOOP_CONF_DIR",
        ),
        (
            (
                f"{LOADING}org.apache.hadoop.security.AccessControlException: Permission denied: user=reader, "
                'access=READ, inode="/half/b.log":root:supergroup:-rw-------'
            ),
            "HDFS denies reader the right READ on /half/b.log (root:supergroup:-rw-------)",
            "grant it",
        ),
    ],
)
def test_a_problem_of_storage_has_cause_and_remedy(text: str, cause: str, remedy: str) -> None:
    problem = storage_problem(text)
    assert problem is not None
    assert cause in problem.cause
    assert remedy in problem.remedy
    assert reason_of(OSError(text)) == f"{problem.cause}; {problem.remedy}"


def test_an_error_of_one_file_names_the_file() -> None:
    text = (
        "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file hdfs://n:8020/logs/b.log.  SQLSTATE: KD001\n"
        'Caused by: Permission denied: user=reader, access=READ, inode="/logs/b.log":root:supergroup:-rw-------'
    )
    assert storage_reason(text).startswith("hdfs://n:8020/logs/b.log: HDFS denies reader")


def test_a_missing_path_does_not_blame_the_storage() -> None:
    text = "[PATH_NOT_FOUND] Path does not exist: s3a://logs/nowhere. SQLSTATE: 42K03"
    assert storage_problem(text) is None
    assert "the path does not exist" in storage_reason(text)


def test_other_reasons_stay_as_they_are() -> None:
    assert reason_of(OSError("java.io.IOException: broken pipe")) == "java.io.IOException: broken pipe"


def test_a_reason_never_shows_a_password() -> None:
    assert "s3cret" not in reason_of(OSError("cannot open s3a://key:s3cret@bucket/logs"))


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_a_file_cannot_hold_a_result(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "server.log").write_text("[2026-11-26 10:00:00,000] INFO started (kafka.server.KafkaServer)\n")
    file = tmp_path / "result"
    file.write_text("kept")
    assert main([str(tmp_path / "server.log"), "--out", form.format(file)]) == 2
    assert capsys.readouterr().err == f"{file} is a file. Name a directory for the result.\n"
    assert file.read_text() == "kept"


def test_a_file_with_a_name_that_tables_cannot_hold_is_named(tmp_path: Path) -> None:
    line = "[2026-11-21 09:30:00,100] INFO ProducerId set to 5 with epoch 1 (a.TransactionManager)\n"
    (tmp_path / "fine.log").write_text(line)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.log")).write_text(line)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/gone\xff.log")).symlink_to("nowhere")
    reading = plan_reading([tmp_path])
    assert [Path(source.name).name for source in reading.sources] == ["fine.log"]
    assert {Path(one.name).name for one in reading.unread if one.is_failure} == {"bad\\xff.log", "gone\\xff.log"}
    assert "rename it" in "".join(one.reason for one in reading.unread)


def test_a_problem_is_one_line_of_utf8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = tmp_path / "problems"
    monkeypatch.setenv(PROBLEMS, str(problems))
    report_problem("not read: a\n::error::b\udcff.log")
    assert problems.read_text("utf-8").splitlines() == ["not read: a\\n::error::b\\udcff.log"]
    assert "\n::error" not in capsys.readouterr().err
