"""Errors of storage say what Spark lacks, by texts that Hadoop prints."""

from __future__ import annotations

import pytest

from spark_log_analytics.outcome import storage_reason


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        (
            "java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found",
            "--packages org.apache.hadoop:hadoop-aws:VERSION",
        ),
        (
            "java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem not found",
            "--packages org.apache.hadoop:hadoop-azure:VERSION",
        ),
        (
            'org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "foo"',
            "file system for foo://;",
        ),
    ],
)
def test_a_missing_connector_names_its_remedy(reason: str, advice: str) -> None:
    assert advice in storage_reason(reason)


def test_other_reasons_stay_as_they_are() -> None:
    assert storage_reason("java.io.IOException: broken pipe") == "java.io.IOException: broken pipe"
