"""File systems on loopback: an HDFS of Hadoop's own test jar, and an S3 of moto."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pyspark
import pytest
import requests

from tests.apache.spark_daemons import PATIENCE_S, SHORT_LIVED_JAVA
from tests.free_port import free_port

JARS = Path(pyspark.__file__).parent / "jars"
HADOOP = next(JARS.glob("hadoop-client-api-*.jar")).stem.removeprefix("hadoop-client-api-")
"""The release of Hadoop that this Spark has; other jars of Hadoop must be of the same."""
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
AWS_SDK = "2.35.4"
"""The release that hadoop-aws 3.5.0 names; its bundle of all services, which users get, has 600 MB."""
S3_JARS = (
    f"org.apache.hadoop:hadoop-aws:{HADOOP}",
    "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1",
    *(f"software.amazon.awssdk:{name}:{AWS_SDK}" for name in ("s3-transfer-manager", "sts", "apache-client")),
)
# Spark has these itself.
NOT_WANTED = "org.apache.httpcomponents,commons-codec,commons-logging,org.slf4j,org.apache.hadoop.thirdparty"
REGION = "us-east-1"


class FileSystem(NamedTuple):
    """A file system: the URL of its root, the jars to reach it, and settings of Spark."""

    url: str
    jars: tuple[Path, ...] = ()
    settings: tuple[str, ...] = ()

    def shell(self, *words: str) -> str:
        """Run a command of Hadoop's shell, such as ``-put``; return its output."""
        options = [word for setting in self.settings for word in ("-D", setting.removeprefix("spark.hadoop."))]
        with tempfile.TemporaryDirectory() as folder:
            # The shell wants a file of settings, even an empty one.
            Path(folder, "core-site.xml").write_text("<configuration/>")
            classes = os.pathsep.join([folder, f"{JARS}/*", *map(str, self.jars)])
            command = ["java", *SHORT_LIVED_JAVA.split(), "-cp", classes, "org.apache.hadoop.fs.FsShell", *options]
            done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout


@contextmanager
def running_hdfs(folder: Path) -> Iterator[FileSystem]:
    """Run a name node and a data node in one process."""
    artifact = f"org.apache.hadoop:hadoop-client-minicluster:{HADOOP}"
    run_maven(f"{PLUGIN}:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}")
    details = folder / "details.json"
    classes = os.pathsep.join([*map(str, folder.glob("*.jar")), f"{JARS}/*"])
    command = ["java", *SHORT_LIVED_JAVA.split(), "-Xmx256m", "-cp", classes]
    command += ["org.apache.hadoop.test.MiniDFSClusterManager", "-datanodes", "1", "-format", "-writeDetails"]
    command += [str(details), "-D", f"hdfs.minidfs.basedir={folder / 'data'}"]
    with running(command, folder / "hdfs.out") as process:
        wait_until(lambda: details.exists() and details.read_text().endswith("}"), process, folder / "hdfs.out")
        port = int(details.read_text().partition(":")[2].rstrip("}"))
        yield FileSystem(f"hdfs://127.0.0.1:{port}")


class S3Server(NamedTuple):
    """An S3 server that holds requests to the policies of their users.

    Attributes:
        endpoint: Its URL.
        access_key: The key of a user with all rights.
        secret_key: Its secret.
        jars: The jars with which Spark reaches it.
    """

    endpoint: str
    access_key: str
    secret_key: str
    jars: tuple[Path, ...]

    def file_system(self, bucket: str) -> FileSystem:
        """Return a bucket as a file system; Hadoop takes the secret from a variable of this process."""
        variable = f"LAB_S3_{self.access_key}"
        os.environ[variable] = self.secret_key
        values = {
            "endpoint": self.endpoint,
            "endpoint.region": REGION,
            "path.style.access": "true",
            "access.key": self.access_key,
            "secret.key": f"${{env.{variable}}}",
        }
        settings = tuple(f"spark.hadoop.fs.s3a.{name}={value}" for name, value in values.items())
        return FileSystem(f"s3a://{bucket}", self.jars, settings)

    def client(self, service: str) -> Any:
        """Return a client of the user with all rights."""
        return s3_client(self.endpoint, service, self.access_key, self.secret_key)

    def user(self, name: str, *actions: str) -> tuple[str, str]:
        """Create a user who has the right to actions; return key and secret."""
        iam = self.client("iam")
        iam.create_user(UserName=name)
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=name, PolicyName="lab", PolicyDocument=policy)
        made = iam.create_access_key(UserName=name)["AccessKey"]
        return made["AccessKeyId"], made["SecretAccessKey"]


@contextmanager
def running_s3(folder: Path) -> Iterator[S3Server]:
    """Run an S3 server."""
    if find_spec("moto") is None or find_spec("flask_cors") is None:
        pytest.skip("moto[s3], flask, or flask-cors is missing")
    copy_jars(folder, S3_JARS)
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    endpoint = f"http://127.0.0.1:{port}"
    with running(command, folder / "s3.out") as process:
        wait_until(lambda: "Running on" in (folder / "s3.out").read_text(), process, folder / "s3.out")
        first = S3Server(endpoint, "first", "first", tuple(sorted((folder / "jars").glob("*.jar"))))
        key, secret = first.user("administrator", "s3:*", "iam:*")
        # From here on, the server checks signatures and policies.
        words = {"data": b"0", "headers": {"Content-Type": "text/plain"}, "timeout": 60}
        assert requests.post(f"{endpoint}/moto-api/reset-auth", **words).status_code == HTTPStatus.OK
        yield first._replace(access_key=key, secret_key=secret)


def s3_client(endpoint: str, service: str, key: str, secret: str) -> Any:
    import boto3

    credentials = {"aws_access_key_id": key, "aws_secret_access_key": secret}
    return boto3.client(service, endpoint_url=endpoint, region_name=REGION, **credentials)


def copy_jars(folder: Path, artifacts: tuple[str, ...]) -> None:
    """Copy jars and what they need, except for Hadoop's own needs, into ``folder/jars``."""
    text = '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    text += "<groupId>lab</groupId><artifactId>jars</artifactId><version>1</version><dependencies>"
    for artifact in artifacts:
        group, name, version = artifact.split(":")
        text += f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
        if group == "org.apache.hadoop":
            text += "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
        text += "</dependency>"
    (folder / "pom.xml").write_text(f"{text}</dependencies></project>\n")
    goal = f"{PLUGIN}:copy-dependencies"
    run_maven(
        "-f", str(folder / "pom.xml"), goal, f"-DoutputDirectory={folder / 'jars'}", f"-DexcludeGroupIds={NOT_WANTED}"
    )


def run_maven(*words: str) -> None:
    if shutil.which("mvn") is None:
        pytest.skip("mvn is missing: the jars come from Maven Central")
    done = subprocess.run(["mvn", "-q", "-B", *words], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout[-2000:]


@contextmanager
def running(
    command: list[str], output: Path, environment: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    with output.open("wb") as sink, subprocess.Popen(command, stdout=sink, stderr=sink, env=environment) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


def wait_until(is_ready: object, process: subprocess.Popen[bytes], output: Path) -> None:
    assert callable(is_ready)
    deadline = time.monotonic() + PATIENCE_S
    while not is_ready():
        assert process.poll() is None and time.monotonic() < deadline, output.read_text(errors="replace")[-2000:]
        time.sleep(0.2)
