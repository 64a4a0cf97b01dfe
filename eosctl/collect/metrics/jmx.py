"""Read beans through JMX, with the Java program of the package jmxquery, over a single connection.

The package's own Python code passes the password as a program argument, which every user of the machine can read. Here
the Java launcher reads all arguments from its standard input (`java @/dev/stdin`, Java 9 and later), so the process
list does not show them, and no file is written.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from eosctl.collect.metrics.beans import bean_sample
from eosctl.errors import AuthenticationFailed, EosctlError, UsageError
from eosctl.model.metric import BeanQuery
from eosctl.model.metric_page import MetricSample
from eosctl.model.secret import Secret
from eosctl.settings.clusters.endpoint_credentials import EndpointCredentials

_ESCAPES: Final = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\f": r"\f"}
#: More digits than a gauge can have would take long to convert.
_INTEGER: Final = re.compile(r"-?[0-9]{1,40}")
_MESSAGE: Final = re.compile(r'"message":\s*"(.*)"\s*\}\s*$', re.DOTALL)
#: Java's messages about TLS and permissions, with their cause and what to do.
_KNOWN: Final = (
    (
        "non-JRMP",
        "Its registry speaks TLS (com.sun.management.jmxremote.registry.ssl=true), which the package jmxquery cannot.",
        "Set registry.ssl=false there (the beans can stay behind TLS), or give the address of jmx_exporter or Jolokia.",
    ),
    (
        "unable to find valid certification path",
        "TLS is spoken there, with a certificate that is not trusted.",
        "Name a truststore that has it: ssl.truststore.location= and ssl.truststore.password= in --credentials.",
    ),
    (
        "SSLContextImpl",
        "Java cannot open the truststore or keystore of --credentials.",
        "Check ssl.truststore.location, ssl.keystore.location and their passwords.",
    ),
    (
        # A connection that is written to after a rejected handshake breaks before its alert is read.
        "Received fatal alert|Broken pipe|Connection reset",
        "It breaks the connection off: most often it wants a client's certificate (ssl.need.client.auth=true).",
        "Name the certificate and its key: ssl.keystore.location= and ssl.keystore.password= in --credentials.",
    ),
    (
        "access denied",
        "This user may not read its beans.",
        "Give the user readonly in the file of com.sun.management.jmxremote.access.file.",
    ),
)


def read_jmx(
    url: str, queries: Sequence[BeanQuery], timeout_ms: int, credentials: EndpointCredentials
) -> tuple[MetricSample, ...]:
    """Read beans of `jmx://HOST:PORT`; missing beans are omitted.

    Raises:
        UsageError: The extra `jmx` is not installed.
        AuthenticationFailed: JMX requires other credentials.
        EosctlError: Java is missing, or the endpoint does not respond.
    """
    jar, java = _find_jar(), _find_java()
    try:
        done = subprocess.run(
            [java, "@/dev/stdin"],
            input=_argument_file(_arguments(url, queries, credentials, jar)).reveal().encode(),
            capture_output=True,
            timeout=timeout_ms / 1000,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EosctlError(
            f"{url} does not answer in time.",
            f"Nothing was read within {timeout_ms:,} ms, Java's start included.",
            "Check that the port of com.sun.management.jmxremote.rmi.port is open too; give more --timeout.",
        ) from error
    except OSError as error:
        raise EosctlError(
            f"{java} cannot be run.", error.strerror or str(error), "Install Java 11 or later."
        ) from error
    return _samples(url, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), credentials)


def _find_jar() -> Path:
    found = importlib.util.find_spec("jmxquery")
    jars = sorted(Path(found.origin).parent.glob("*.jar")) if found is not None and found.origin else []
    if not jars:
        raise UsageError(
            "Reading JMX needs the extra jmx.", "", "Install it: pip install 'eosctl[jmx]'; or give an exporter's page."
        )
    return jars[-1]


def _find_java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = (shutil.which("java", path=f"{home}/bin") if home else None) or shutil.which("java")
    if found is None:
        raise EosctlError(
            "Reading JMX needs Java, which is not here.",
            "JMX is a protocol of Java; no Python library speaks it.",
            "Install Java 11 or later, or give the page of jmx_exporter or Jolokia's address.",
        )
    return found


def _arguments(url: str, queries: Iterable[BeanQuery], credentials: EndpointCredentials, jar: Path) -> list[str]:
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname
    wanted = ";".join(f"{query.pattern}/{attribute}" for query in queries for attribute in query.attributes)
    # Without the JVM's performance counters, other programs of this user cannot read the arguments either.
    arguments = ["-XX:-UsePerfData", "-Xshare:auto", "-XX:TieredStopAtLevel=1", *_stores(credentials)]
    service = f"service:jmx:rmi:///jndi/rmi://{host}:{parts.port}/jmxrmi"
    arguments += ["-jar", str(jar), "-url", service, "-json", "-q", wanted]
    if credentials.password is not None:
        arguments += ["-u", credentials.username, "-p", credentials.password.reveal()]
    return arguments


def _stores(credentials: EndpointCredentials) -> list[str]:
    """Return Java's TLS options."""
    given = (
        ("trustStore", credentials.truststore, credentials.truststore_password),
        ("keyStore", credentials.keystore, credentials.keystore_password),
    )
    options = []
    for name, path, password in given:
        if path:
            options.append(f"-Djavax.net.ssl.{name}={path}")
        if password is not None:
            options.append(f"-Djavax.net.ssl.{name}Password={password.reveal()}")
    return options


def _argument_file(arguments: Iterable[str]) -> Secret:
    """Quote arguments for the Java launcher's argument file."""
    quoted = ("".join(_ESCAPES.get(letter, letter) for letter in argument) for argument in arguments)
    return Secret("".join(f'"{argument}"\n' for argument in quoted))


def _samples(url: str, output: str, errors: str, credentials: EndpointCredentials) -> tuple[MetricSample, ...]:
    if "Authentication failed" in errors or "Invalid username" in errors or "Credentials required" in errors:
        raise AuthenticationFailed(
            f"{url} refuses the connection: authentication failed.",
            "It refuses this user name or password." if credentials.password else "It wants a user name and password.",
            "Give --credentials FILE with username= and password=.",
        )
    try:
        found = json.loads(output, strict=False)
    except ValueError:
        # The program does not escape quotes in error messages.
        said = _MESSAGE.search(output)
        raise _unreadable(url, said[1] if said else errors) from None
    if not isinstance(found, list):
        raise _unreadable(url, str(found.get("message", "")) if isinstance(found, dict) else "")
    beans = (bean_sample(one["mBeanName"], one["attribute"], _value(one)) for one in found)
    return tuple(sample for sample in beans if sample is not None)


def _value(one: dict[str, object]) -> object:
    """Return an attribute's value; the program writes large integers, such as RocksDB's gauges, as text."""
    value = one.get("value")
    if one.get("attributeType") == "BigInteger" and isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    return value


def _unreadable(url: str, message: str) -> EosctlError:
    for said, why, next_step in _KNOWN:
        if re.search(said, message):
            return EosctlError(f"{url} cannot be read.", why, next_step)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    # Java's message starts with its own classes; the innermost cause contains the reason.
    causes = [line for line in lines if "exception is" in line.lower() or line.startswith(("java", "Caused by"))]
    why = (causes[-1] if causes else lines[0] if lines else "It said nothing.").removeprefix("Caused by: ").rstrip("]")
    return EosctlError(
        f"{url} cannot be read.", why[:300], "Check the port that JMX_PORT or com.sun.management.jmxremote.port gives."
    )
