"""Explain why a storage cannot be read or written, from the text of Spark's error.

The signs are texts of Hadoop's clients for S3 and HDFS, as servers on loopback provoked them.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class StorageProblem(NamedTuple):
    """Why a storage fails.

    Attributes:
        cause: What is wrong, without a full stop.
        remedy: What to do, an imperative without a full stop.
    """

    cause: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.cause}; {self.remedy}"


_MODULES: Final = {"s3a": "hadoop-aws", "azurebfs": "hadoop-azure"}
_KEYS: Final = "spark.hadoop.fs.s3a.access.key and spark.hadoop.fs.s3a.secret.key"
_ADDRESS: Final = "correct the URL or Spark's setting of the endpoint, and check that the server runs"

_SIGNS: Final = (
    (
        r"ClassNotFoundException: Class org\.apache\.hadoop\.fs\.(?P<module>s3a|azurebfs)\.(?P<name>\w+) not found",
        "Spark has no {name}",
        "add --packages org.apache.hadoop:{module}:VERSION with the version of Spark's own Hadoop jars",
    ),
    (
        r"(?:ClassNotFoundException|NoClassDefFoundError): (?P<name>software[./]amazon[./][\w./$]+)",
        "the jars of hadoop-aws lack the class {name}",
        "add the dependencies of that release of hadoop-aws, which --packages resolves",
    ),
    (
        r'No FileSystem for scheme:? "?(?P<scheme>[^"\s]+)',
        "Spark does not have a file system for {scheme}://",
        "correct the URL, or use --packages",
    ),
    (
        r"NoAuthWithAWSException|Unable to load credentials",
        "Spark has no credentials for it",
        f"set {_KEYS}, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where a role gives them",
    ),
    (
        r"\b(?P<code>InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken)\b",
        "the store does not accept the credentials ({code})",
        f"correct {_KEYS}, or renew the session token",
    ),
    (
        r'Permission denied: user=(?P<user>[^,]+), access=(?P<access>\w+), inode="(?P<path>[^"]*)"(?::(?P<owner>\S+))?',
        "HDFS denies {user} the right {access} on {path} ({owner})",
        "grant it, or run the job as a user that has it",
    ),
    (
        r"(?P<action>\w+[^:\n]{0,20}) on (?P<place>[^\s:]+(?:://[^\s:]+)?): .*?Status Code: 403,.*?\):AccessDenied",
        "the store denies these credentials {action} on {place}",
        "grant the permission to list, read, and (for --out) write and delete, or use other credentials",
    ),
    (
        r"Status Code: 403\b",
        "the store denies access (HTTP status 403)",
        f"check {_KEYS}, and that they may list, read, and (for --out) write and delete",
    ),
    (
        r"UnknownStoreException: `?\w+://(?P<bucket>[^/'\s]+)",
        "the bucket {bucket} does not exist at this endpoint",
        "correct the URL or spark.hadoop.fs.s3a.endpoint, or create the bucket",
    ),
    (
        r"NoSuchBucket",
        "the bucket does not exist at this endpoint",
        "correct the URL or spark.hadoop.fs.s3a.endpoint, or create the bucket",
    ),
    (r"UnknownHostException: (?P<host>[\w.-]+)\s*$", "the host {host} is unknown", _ADDRESS),
    (r"UnknownHostException", "the host of the storage is unknown", _ADDRESS),
    (
        r"Connect to (?P<host>[\w.:\[\]-]+) (?:\[[^\]]*\] )?failed: (?P<reason>[\w ]+)",
        "{host} does not answer ({reason})",
        _ADDRESS,
    ),
    (
        r"Call From \S+ to (?P<host>[\w.-]+:\d+) failed on connection exception: [\w.]+: (?P<reason>[\w ]+)",
        "{host} does not answer ({reason})",
        _ADDRESS,
    ),
    (
        r"Incomplete HDFS URI, no host: (?P<url>\S+)",
        "{url} does not name a name node, and Spark has no default one",
        "write hdfs://HOST:PORT/PATH, or set HADOOP_CONF_DIR",
    ),
    (
        r"SIMPLE authentication is not enabled|Client cannot authenticate via|GSS initiate failed",
        "the storage wants Kerberos, and the job has no ticket",
        "run kinit first, or set spark.kerberos.principal and spark.kerberos.keytab with --conf",
    ),
    (r"Name node is in safe mode", "the name node is in safe mode", "wait until it leaves it, and submit again"),
)
_MEANINGS: Final = tuple((re.compile(sign, re.MULTILINE), cause, remedy) for sign, cause, remedy in _SIGNS)
_ABSENT: Final = re.compile(r"\[PATH_NOT_FOUND\] Path does not exist: (\S+?)\.? ")
_FILE: Final = re.compile(r"Encountered error while reading file (\S+?)\.?\s")


def storage_problem(text: str) -> StorageProblem | None:
    """Return the problem of a storage that an error's text with all its causes shows; None for other errors.

    A path that does not exist is not such a problem.
    """
    for pattern, cause, remedy in _MEANINGS:
        if found := pattern.search(text):
            values = {
                name: " ".join(value.split()) if value else "unknown" for name, value in found.groupdict().items()
            }
            values |= {"module": _MODULES[values["module"]]} if "module" in values else {}
            return StorageProblem(cause.format(**values), remedy.format(**values))
    return None


def storage_reason(text: str) -> str:
    """Return the problem of a storage in one line; empty for other errors."""
    problem = storage_problem(text)
    if problem is None:
        return "the path does not exist; correct the URL or the pattern" if is_absent(text) else ""
    file = file_of_error(text)
    return f"{file}: {problem}" if file else str(problem)


def is_absent(text: str) -> bool:
    """Return whether an error's text reports that a path does not exist."""
    return _ABSENT.search(text) is not None


def file_of_error(text: str) -> str:
    """Return the file that could not be read, by its encoded URL; empty if an error's text names none."""
    file = _FILE.search(text)
    return file[1] if file else ""
