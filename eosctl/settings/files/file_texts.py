"""Configuration files as text: which there are, how they are encoded, and whether they are about Kafka."""

from __future__ import annotations

import codecs
import errno
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.input_file import read_input
from eosctl.model.redaction import redact_text
from eosctl.settings.files.documents import format_of
from eosctl.settings.names.misspelled import misspelled_settings

MAX_FILE_BYTES: Final = 8 * 1024 * 1024
SKIPPED_FOLDERS: Final = frozenset({".git", "node_modules", ".venv", "target", "build", "__pycache__"})
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMENT: Final = re.compile(r"^[^\S\n]*+(?:#|//|--|!|;|\{\{-?\s*/\*).*$", re.MULTILINE)
_KAFKA: Final = re.compile(
    r"kafka|redpanda|bootstrap[._-]?servers|transactional[._-]?id|isolation[._-]?level|processing[._-]guarantee"
    r"|enable[._-]?idempotence|min[._-]?insync[._-]?replicas|connector\.class|exactly[._-]?once"
)
# A part of each of these: most files of a repository have none, and one search for all of them is slow.
_PARTS_OF_KAFKA: Final = (
    *("kafka", "redpanda", "servers", "transactional", "isolation", "guarantee", "idempotence", "insync"),
    *("connector.class", "exactly"),
)
# Files of loggers name Kafka's packages, those of tools for dependencies and releases its artifacts, those of native
# images its classes; Cruise Control keeps a copy of what it expects of brokers.
_OF_OTHERS: Final = re.compile(
    r"^(?:.*log4j.*|.*logback.*|package(?:-lock)?\.json|tsconfig.*\.json|.*\.lock|composer\.json|pom\..*|build\..*"
    r"|gradle\.properties|.*\.versions\.toml|cargo\.toml|pyproject\.toml|_category_\.json|angular\.json|vcpkg\.json|clusterconfigs\.json|renovate\.json5?|\.?renovaterc.*|dependabot\.ya?ml|\.pre-commit-config\.yaml|mkdocs\.ya?ml"
    r"|(?:reflect(?:ion)?|resource|jni|proxy|serialization)-config\.json|reachability-metadata\.json"
    r"|\.releaserc.*|requirements\.ya?ml|mypy\.ini|tox\.ini|packages\.lock\.json|native-image\.properties|chart\.ya?ml|micronaut-cli\.ya?ml|mods\.toml|sonar-project\.properties|trogdor\.conf|project\.(?:assets|packagespec)\.json|.*\.nuget\.dgspec\.json)$"
)
# Texts that programs show, by language, may be called like settings.
_TRANSLATIONS: Final = re.compile(
    r"(?:^|/)(?:messages|locales?|i18n|l10n|lang|languages|translations)/(?:[^/]+/)?"
    r"(?:(?:[\w.-]+[._-])?[a-z]{2}(?:[-_][a-z]{2,4})?|[a-z]{2}(?:[-_][a-z]{2,4})?/[^/]+)\.(?:jsonc?|ya?ml|properties)$"
)
# Loggers' own files name Kafka's packages, and may be called after its servers.
_LOGGERS: Final = re.compile(r"^(?:log4j\.rootLogger|rootLogger(?:\.level)?|log4j\.appender\.\w+)[ \t]*=", re.MULTILINE)
# Tests of modules are programs, also where they are called after a module of settings.
_TESTS: Final = re.compile(
    r"(?:^|/)(?:(?:tests?|__tests__)/(?:.*/)?[^/]+|test_[^/]*|[^/]*[._](?:test|spec)s?)\.(?:py|[cm]?[jt]s)$"
    # Drivers are called after a client's library.
    r"|(?:^|/)[a-z0-9]+kafka\.py$"
)
# Statements for a database; Flink, ksqlDB, and ClickHouse have words of their own for Kafka.
_OF_STREAMS: Final = re.compile(r"\bWITH\s*\(|\bSET\s+'|\bENGINE\s*=\s*Kafka\b", re.IGNORECASE)
# Descriptions of interfaces name topics and settings that programs behind them may have.
_INTERFACES: Final = re.compile(
    r"""^(?:openapi|swagger|asyncapi):[ \t]*["']?\d|\A\s*\{\s*"(?:openapi|swagger|asyncapi)"\s*:""", re.MULTILINE
)
# Rules and targets of Prometheus, rules of its JMX exporter, and those of kube-state-metrics name Kafka's metrics.
_OF_MONITORING: Final = re.compile(
    r"^(?:scrape_configs|lowercaseOutputName|lowercaseOutputLabelNames|whitelistObjectNames|includeObjectNames):"
    r"|^rules:[ \t]*\n[ \t]*-[ \t]+pattern:|^[ \t]*(?:-[ \t]+)?metricNamePrefix:",
    re.MULTILINE,
)
_RULES_OF_PROMETHEUS: Final = (
    re.compile(r"^groups:[ \t]*$", re.MULTILINE),
    re.compile(r"^[ \t]*(?:-[ \t]+)?(?:alert|record):[ \t]", re.MULTILINE),
)
# What stands in place of a file's content: pointers of Git LFS and git-annex, and encrypted files.
_SEALED: Final = re.compile(
    r"\A\s*(?:version https://git-lfs\.github\.com/spec/|(?:\.\./)*(?:\.git)?/annex/objects/|\$ANSIBLE_VAULT;"
    r"|-----BEGIN (?:PGP MESSAGE|AGE ENCRYPTED FILE)-----|age-encryption\.org/v\d)"
)
_NAMED_LIKE_KAFKA: Final = re.compile(
    r"kafka|producer|consumer|broker|server|connect|stream|ksql|mirror|mm2|topic|registry|client|flink|application"
    r"|(?:^|[._-])app[._-]"
)
_SCHEMA: Final = re.compile(r""""\$schema"\s*:\s*"[^"]*json-schema""")
DIRECTIVE: Final = re.compile(r"%\{~?[ \t]*(?:if|else|endif|for|endfor)\b[^}\n]*\}")
"""What Terraform's ``templatefile`` decides on and repeats."""
_HEAD: Final = 4_000
_MOST_DESCRIPTIONS: Final = 30
"""More texts for people than a configuration has: a description of a program's options has more."""
_MANY_OBJECTS: Final = 3
_OF_A_PLUGIN: Final = ('"component_types"', '"owner"')
"""What Confluent's hub writes about a plugin of Connect."""
_OF_A_POLICY: Final = ('"Statement"', '"Effect"', '"Action"', '"2012-10-17"')
_OF_A_DASHBOARD: Final = ('"panels"', '"schemaVersion"')


def files_of(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield each file once; a file that is named explicitly is read regardless of its name."""
    seen: set[Path] = set()
    for path in paths:
        found = (path,) if not path.is_dir() else _within(path)
        for one in found:
            if one not in seen:
                seen.add(one)
                yield one


def read_text(path: Path) -> str:
    """Return the text of a file: UTF-8, UTF-16 and UTF-32 with their marks, and Latin-1 where Java reads it so.

    Raises:
        ConfigFileError: The file cannot be read, is too large, or is not text, or a file with a name of Kafka's files
            hides its content.
    """
    try:
        raw = read_input(path, MAX_FILE_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ConfigFileError(
                f"{path} is larger than {MAX_FILE_BYTES} bytes.", "", "Name configuration files only."
            ) from error
        raise ConfigFileError(
            f"{redact_text(str(path))} cannot be read: {error.strerror or error}.",
            "",
            "Check the path and its permissions.",
        ) from error
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        # Java reads Latin-1; a text without a sign of ASCII is none, such as EBCDIC.
        if path.suffix == ".properties" and b"\0" not in raw and (b"=" in raw or b":" in raw):
            return raw.decode("latin-1")
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigFileError(f"{path}:{line}: not UTF-8.", "", "Save the file as UTF-8.") from error
    text = text.removeprefix("\ufeff") if not text.strip("\ufeff \t\r\n") else text
    if "\0" in text:
        raise ConfigFileError(
            f"{path} is not text: it holds NUL bytes.", "It may be UTF-16 without a mark.", "Save the file as UTF-8."
        )
    if _SEALED.match(text) is not None and _is_named_like_kafka(path.name):
        raise ConfigFileError(
            f"{path} hides its content.",
            "It is encrypted, or a pointer of Git LFS or git-annex.",
            "Decrypt or fetch it.",
        )
    return text


def holds_kafka(path: Path) -> bool:
    """Return whether a file that is not text, or cannot be read, may be about Kafka.

    One that hides its content is judged by its name.
    """
    try:
        raw = read_input(path, MAX_FILE_BYTES)
    except OSError:
        return True
    if _names_kafka(raw.replace(b"\0", b"").decode("latin-1")):
        return True
    try:
        is_hidden = "\0" in (text := raw.decode()) or _SEALED.match(text) is not None
    except UnicodeDecodeError:
        is_hidden = True
    return is_hidden and _is_named_like_kafka(path.name)


def _is_named_like_kafka(name: str) -> bool:
    return _NAMED_LIKE_KAFKA.search(name.rpartition("/")[2].lower()) is not None


def is_template(text: str) -> bool:
    """Return whether a file is one that Helm, Jinja, ERB, or Terraform make a configuration of first."""
    return "{{" in text or "{%" in text or "<%" in text or ("%{" in text and DIRECTIVE.search(text) is not None)


def mentions_kafka(name: str, text: str) -> bool:
    """Return whether a file is about Kafka, comments aside: it names Kafka or a setting, or misspells a setting.

    >>> mentions_kafka("a.yaml", "# kafka\\nx: 1"), mentions_kafka("a.yaml", "brokers: kafka:9092")
    (False, True)
    >>> mentions_kafka("a.properties", "transactonal.id=a")
    True
    """
    if is_of_others(name, text):
        return False
    if _names_kafka(text) and _names_kafka(_COMMENT.sub("", text)):
        return True
    return any(misspelled_settings(text))


def _names_kafka(text: str) -> bool:
    lower = text.lower()
    return any(part in lower for part in _PARTS_OF_KAFKA) and _KAFKA.search(lower) is not None


def is_of_others(name: str, text: str = "") -> bool:
    """Return whether no program of Kafka reads a file, although it names settings of Kafka.

    Its name shows that, or it is a dashboard or another file of monitoring, which is about their metrics, or the
    description of an interface.

    >>> is_of_others("config/clusterConfigs.json"), is_of_others("config/server.properties")
    (True, False)
    >>> is_of_others("ui/messages/en.json"), is_of_others("messages/orders.json")
    (True, False)
    >>> is_of_others("tests/kafka.py"), is_of_others("drivers/aiokafka.py"), is_of_others("app/settings.py")
    (True, True, False)
    >>> is_of_others("metrics.yaml", "spec:\\n  resources:\\n    - metricNamePrefix: kafka_topic")
    True
    >>> is_of_others("kafka.json", '{"panels": [], "schemaVersion": 39, "title": "Kafka"}')
    True
    """
    file = name.rpartition("/")[2].lower()
    if _OF_OTHERS.match(file) is not None or _TRANSLATIONS.search(name.lower()) is not None:
        return True
    if file.endswith((".py", "js", "ts")):
        return _TESTS.search(name.lower()) is not None
    if file.endswith(".sql"):  # those of ksqlDB have an ending of their own, too
        return bool(text) and _OF_STREAMS.search(text) is None
    if file.endswith(".json"):
        return all(key in text for key in _OF_A_DASHBOARD) or _describes_others(text)
    if file.endswith(".properties"):
        return _LOGGERS.search(text) is not None
    if not file.endswith((".yml", ".yaml")):
        return False
    if "api:" in text and _INTERFACES.search(text) is not None:
        return True
    return _OF_MONITORING.search(text) is not None or all(part.search(text) for part in _RULES_OF_PROMETHEUS)


def _describes_others(text: str) -> bool:
    """Return whether JSON describes data, interfaces, options of a program, a plugin, or the rights of users of AWS."""
    is_schema = _SCHEMA.search(text[:_HEAD]) is not None or text.count('"description"') >= _MOST_DESCRIPTIONS
    is_schema = is_schema or text.count('"additionalProperties"') >= _MANY_OBJECTS
    is_other = any(all(part in text for part in parts) for parts in (_OF_A_POLICY, _OF_A_PLUGIN))
    return is_schema or is_other or _INTERFACES.search(text) is not None


def _within(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that have a format, by path; what cannot be opened fails where it is read.

    Links to folders are not followed. ConfigMaps are mounted as links to files in folders named ``..``.
    """
    closed: list[OSError] = []
    found: list[Path] = []
    for top, folders, names in os.walk(folder, onerror=closed.append):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith("..")]
        found += [Path(top, name) for name in names if format_of(f"{top}/{name}")]
    yield from sorted([*found, *(Path(error.filename) for error in closed)])
