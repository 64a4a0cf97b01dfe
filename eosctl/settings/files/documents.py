"""From the text of a configuration file to trees: one per document in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Final, NamedTuple

from eosctl.errors import ConfigFileError
from eosctl.settings.formats.fluent_bit_file import SECTION, parse_fluent_bit
from eosctl.settings.formats.hcl_file import HclError, can_parse, parse_hcl
from eosctl.settings.formats.hocon_file import HoconError, parse_hocon
from eosctl.settings.formats.ini_file import IniError, parse_ini
from eosctl.settings.formats.javascript_file import NAMES as JAVASCRIPT_FILES
from eosctl.settings.formats.javascript_file import parse_javascript
from eosctl.settings.formats.logstash_file import LOGSTASH, PIPELINE, LogstashError, parse_logstash
from eosctl.settings.formats.pm2_file import NAMES as PM2_FILES
from eosctl.settings.formats.pm2_file import as_json5
from eosctl.settings.formats.properties_file import MalformedEscape, properties_in
from eosctl.settings.formats.python_file import NAMES as PYTHON_FILES
from eosctl.settings.formats.python_file import parse_python
from eosctl.settings.formats.sql_file import SQL_FILES, SqlError, parse_sql
from eosctl.settings.formats.supervisor_file import PROGRAM, parse_supervisor
from eosctl.settings.formats.toml_file import TomlError, parse_toml
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, moved
from eosctl.settings.formats.xml_file import NAMES as XML_FILES
from eosctl.settings.formats.xml_file import parse_xml
from eosctl.settings.programs.program_files import parse_image, parse_script
from eosctl.settings.programs.unit_file import parse_unit

MAX_DEPTH: Final = 100
"""More levels than any configuration has; what walks over trees calls itself for each."""

# What stands behind the ending of a file that a tool or a person makes the real one of.
_TEMPLATE_ENDING: Final = re.compile(r"\.(?:j2|tpl|tftpl|tmpl|template|erb|example|sample|dist|orig|bak|default)$")
# Files that have the name of an environment or a program behind their own: .env.production, Dockerfile.relay.
_VARIANT: Final = re.compile(r"(\.env|dockerfile|containerfile|makefile|procfile)\.(?!patch$|diff$)[\w-]+$")
# Variables of services of a Linux machine: /etc/default/kafka.
_SERVICE_VARIABLES: Final = re.compile(r"(?:^|/)etc/(?:default|sysconfig)/[\w@.-]+$")


class Format(NamedTuple):
    """A file format: its name, the endings of its files, and its parser."""

    name: str
    endings: tuple[str, ...]
    parse: Callable[[str, str], tuple[Node, ...]]


def parse_documents(file: str, text: str) -> tuple[Node, ...]:
    """Parse a file by the ending of its name.

    Args:
        file: The file's name, for messages and for its ending.
        text: What stands in it.

    Raises:
        ConfigFileError: The text does not follow its format; the message names the line.
    """
    found = format_of(file)
    if found is None:
        raise ConfigFileError(
            f"{file}: the format is not known.",
            "It is detected by the file's ending: " + ", ".join(e for f in FORMATS for e in f.endings) + ".",
            "Rename the file.",
        )
    try:
        documents = found.parse(file, text.replace("\ufeff", ""))
    except RecursionError as error:
        raise _malformed(file, 1, "nested too deeply") from error
    _check_depth(file, documents)
    return documents


def parse_within(file: str, text: str, line: int) -> tuple[Node, ...]:
    """Parse a file whose text stands inside another one.

    Args:
        file: A name with the ending of its format.
        text: What stands in it.
        line: Number of its first line in the file around it, from 1.

    Raises:
        ConfigFileError: The text does not follow its format.
    """
    return tuple(moved(document, line - 1) for document in parse_documents(file, text))


def _check_depth(file: str, documents: Iterable[Node]) -> None:
    level: list[Node] = list(documents)
    for _ in range(MAX_DEPTH):
        level = [child for node in level if not isinstance(node, Leaf) for child in _children(node)]
        if not level:
            return
    raise _malformed(file, level[0].line, "nested too deeply")


def _children(node: Node) -> Iterable[Node]:
    if isinstance(node, Branch):
        return (child for _, child in node.entries)
    return node.nodes if isinstance(node, Row) else ()


@lru_cache(maxsize=4096)
def format_of(file: str) -> Format | None:
    """Return the format of a file by its name; None if eosctl does not read it."""
    if _SERVICE_VARIABLES.search(file) is not None:
        return next(one for one in FORMATS if one.name == "env")
    name = _TEMPLATE_ENDING.sub("", file.rpartition("/")[2].lower())
    if (variant := _VARIANT.match(name)) is not None:
        name = variant[1]
    return next((f for f in FORMATS if name.endswith(f.endings)), None)


def starts_programs(file: str) -> bool:
    """Return whether a file is a script, a unit, or the description of an image, by its name."""
    found = format_of(file)
    return found is not None and found.name in PROGRAMS


_PRINTED_NOTHING: Final = "null"
_MANY_NOTHINGS: Final = 3
"""So many settings have this value only in a list that a server printed, where it stands for none."""


def parse_properties_tree(file: str, text: str, first_line: int = 1) -> Branch:
    """Parse Java properties; ``first_line`` is where they begin when they stand inside another file."""
    try:
        pairs = [(name, value.rstrip(), line) for name, value, line in properties_in(text, first_line)]
        is_printed = sum(value == _PRINTED_NOTHING for _, value, _ in pairs) >= _MANY_NOTHINGS
        entries = [(n, Leaf(v, line)) for n, v, line in pairs if not (is_printed and v == _PRINTED_NOTHING)]
    except MalformedEscape as error:
        raise _malformed(file, error.line, "malformed \\u escape", "Write a backslash as two backslashes.") from error
    return Branch(tuple(entries), first_line)


_HOCON_OBJECT: Final = re.compile(
    r"^[ \t]*(?:\{|[^=:#!\s][^=:#\n{]*(?<!\$)\{|[^=:#!\s][^=:#\n]*[=:][ \t]*\{[ \t]*(?:$|[\w.\"-]+\s*[=:{]))",
    re.MULTILINE,
)
_HOCON_PATH: Final = re.compile(
    r"^[ \t]*(?:[\w-]+\.)+[\w-]+[ \t]*=[ \t]*(?:\"[^\"\n]*\"[ \t]*$|\$\{\?)|^[ \t]*(?:akka|pekko)\.kafka\.",
    re.MULTILINE,
)
"""Whole paths as keys, with texts in quotes: Java's properties would keep the quotes."""
_TELEGRAF: Final = re.compile(r"^[ \t]*\[\[(?:inputs|outputs|processors|aggregators)\.\w+\]\]", re.MULTILINE)
_STATEMENT: Final = re.compile(r";[ \t]*$", re.MULTILINE)


def _conf(file: str, text: str) -> tuple[Node, ...]:
    """Read ``.conf`` by what stands in it: Logstash, Fluent Bit, Telegraf, supervisord, HOCON, else properties.

    JAAS and nginx end their lines otherwise than HOCON does.
    """
    if PIPELINE.search(text) and "=>" in text:
        return _logstash(file, text)
    if SECTION.search(text):
        return (parse_fluent_bit(text),)
    if _TELEGRAF.search(text):
        return _toml(file, text)
    if PROGRAM.search(text):
        return (parse_supervisor(text),)
    if _HOCON_OBJECT.search(text) and not _STATEMENT.search(text):
        return _hocon(file, text)
    if _HOCON_PATH.search(text) and not _STATEMENT.search(text):
        with suppress(HoconError):
            return (parse_hocon(text),)
    return _properties(file, text)


def _logstash(file: str, text: str) -> tuple[Node, ...]:
    try:
        tree = parse_logstash(text)
        return (Branch(((LOGSTASH, tree),), tree.line),)
    except LogstashError as error:
        raise _malformed(file, error.line, error.reason) from error


def _hocon(file: str, text: str) -> tuple[Node, ...]:
    try:
        return (parse_hocon(text),)
    except HoconError as error:
        raise _malformed(file, error.line, error.reason) from error


def _properties(file: str, text: str) -> tuple[Node, ...]:
    begin = text.lstrip()[:2]
    if begin[:1] == "<" and file.lower().endswith(".config"):
        return parse_xml(text)
    if begin[:1] == "{" and begin not in ("{{", "{%") and not file.lower().endswith(".properties"):
        return _json(file, text)  # what is sent to the REST API of Connect
    # Spring Boot's documents inside one properties file.
    parts = re.split(r"^(?:#|!)---[ \t]*$\n?", text, flags=re.MULTILINE)
    trees: list[Node] = []
    line = 1
    for part in parts:
        trees.append(parse_properties_tree(file, part, line))
        line += part.count("\n") + 1
    return tuple(trees)


def _yaml(file: str, text: str) -> tuple[Node, ...]:
    from eosctl.settings.formats.yaml_file import YamlError, parse_yaml

    try:
        return parse_yaml(text)
    except YamlError as error:
        raise _malformed(file, error.line, error.reason) from error


_MOST_OBJECTS: Final = 100
"""More objects than a file of connectors has: such files hold records."""
_BLANKS: Final = re.compile(r"\s*+(?=\{)")


def _json(file: str, text: str) -> tuple[Node, ...]:
    try:
        _check_json(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and (apart := _as_documents(text)):
            return _yaml(file, apart.replace("\t", " "))
        return _json_with_comments(file, text, error)
    # What is valid JSON is YAML too, but for tabs between the tokens.
    return _yaml(file, text.replace("\t", " "))


def _as_documents(text: str) -> str:
    """Return objects on lines of their own, as JSON lines and files of several connectors have, as YAML's documents.

    Nothing is returned for other texts.
    """
    if text.count("\n{") >= _MOST_OBJECTS:
        return ""
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    parts, position = list[str](), 0
    while (start := _BLANKS.match(text, position)) and (not position or "\n" in start[0]):
        try:
            _, end = decoder.raw_decode(text, start.end())
        except json.JSONDecodeError:
            return ""
        parts += (start[0], "--- ", text[start.end() : end])
        position = end
    return "" if text[position:].strip() else "".join(parts)


def is_piece_of_json(file: str, text: str) -> bool:
    """Return whether a file called like JSON holds something else: members without braces, a command, or records.

    >>> is_piece_of_json("a.json", '"acks": "all",'), is_piece_of_json("a.json", '{"acks": "all"')
    (True, False)
    """
    is_other = text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[") or text.count("\n{") >= _MOST_OBJECTS
    return file.lower().endswith(".json") and is_other


def _check_json(text: str) -> None:
    # Numbers stay text: Python converts no more than 4,300 digits, and Kafka's own parser judges a value.
    json.loads(text, parse_int=str, parse_float=str)


_JSON_STRING: Final = r"""("(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)"""
_JSON_COMMENT: Final = re.compile(rf"{_JSON_STRING}|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)")
_JSON_LAST_COMMA: Final = re.compile(rf"{_JSON_STRING}|,(?=\s*[}}\]])")


def _json_with_comments(file: str, text: str, error: json.JSONDecodeError) -> tuple[Node, ...]:
    """Read comments and commas at the end, in .json files as well; names without quotes in JSON5 alone."""

    def kept(match: re.Match[str]) -> str:
        return match[1] or re.sub(r"[^\n]", " ", match[0])

    plain = _JSON_LAST_COMMA.sub(kept, _JSON_COMMENT.sub(kept, text))
    if plain.lstrip()[:1] not in ("{", "["):
        raise _malformed(file, error.lineno, error.msg) from error
    try:
        if not file.lower().endswith((".jsonc", ".json5")):
            _check_json(plain)
        return _yaml(file, plain.replace("\t", " "))
    except (ConfigFileError, json.JSONDecodeError):
        raise _malformed(file, error.lineno, error.msg) from error


def _pm2(file: str, text: str) -> tuple[Node, ...]:
    """Read what PM2 starts; a module with code of its own has nothing that is understood."""
    exported = as_json5(text)
    try:
        return () if exported is None else _json(f"{file}.json5", exported)
    except ConfigFileError:
        return ()


def _hcl(file: str, text: str) -> tuple[Node, ...]:
    """Read HCL if its parser is installed; without it, skip files that do not mention Kafka."""
    if not can_parse():
        if "kafka" not in text.lower():
            return ()
        raise ConfigFileError(
            f"{file}: HCL cannot be read without the package python-hcl2 (pip install 'eosctl[hcl]').",
            "It parses HCL, and is not installed.",
            "Install eosctl[hcl].",
        )
    try:
        return (parse_hcl(text),)
    except HclError as error:
        raise _malformed(file, error.line, error.reason) from error


def _env(file: str, text: str) -> tuple[Node, ...]:
    entries: list[tuple[str, Node]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip().removeprefix("export ").strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_][\w.-]*", name.strip()):
            raise _malformed(file, number, "not of the form NAME=VALUE")
        entries.append((name.strip(), Leaf(_unquoted(value.strip()), number)))
    return (Branch(tuple(entries), 1),)


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return re.split(r"\s#", text, maxsplit=1)[0].rstrip()


def _toml(file: str, text: str) -> tuple[Node, ...]:
    try:
        return (parse_toml(text),)
    except TomlError as error:
        raise _malformed(file, error.line, error.reason) from error


def _ini(file: str, text: str) -> tuple[Node, ...]:
    if PROGRAM.search(text):
        return (parse_supervisor(text),)
    try:
        return (parse_ini(text),)
    except IniError as error:
        raise _malformed(file, error.line, error.reason) from error


def _sql(file: str, text: str) -> tuple[Node, ...]:
    try:
        return parse_sql(text, is_of_ksqldb=file.lower().endswith(".ksql"))
    except SqlError as error:
        raise _malformed(file, error.line, error.reason) from error


def _malformed(file: str, line: int, reason: str, next_step: str = "Correct the file.") -> ConfigFileError:
    return ConfigFileError(f"{file}:{line}: {reason}.", "", next_step)


FORMATS: Final = (
    Format("properties", (".properties", ".cfg", ".config"), _properties),
    Format("conf", (".conf",), _conf),
    Format("hocon", (".hocon",), _hocon),
    Format("yaml", (".yml", ".yaml", "kustomization"), _yaml),
    Format("json", (".json", ".jsonc", ".json5"), _json),
    Format("pm2", PM2_FILES, _pm2),
    Format("hcl", (".tf", ".hcl", ".tfvars", ".nomad"), _hcl),
    Format("toml", (".toml",), _toml),
    Format("ini", (".ini",), _ini),
    Format("env", (".env",), _env),
    Format("sql", SQL_FILES, _sql),
    Format("image", ("dockerfile", "containerfile"), lambda _, text: parse_image(text)),
    Format("python", PYTHON_FILES, lambda _, text: parse_python(text)),
    Format("javascript", JAVASCRIPT_FILES, lambda _, text: parse_javascript(text)),
    Format("xml", XML_FILES, lambda _, text: parse_xml(text)),
    Format("unit", (".service",), lambda file, text: parse_unit(text, file)),
    Format("script", (".sh", ".bash", "makefile", ".mk", "procfile", "justfile"), lambda _, text: parse_script(text)),
    Format("script", (".bat", ".cmd"), lambda _, text: parse_script(text.replace("\\", "/").replace("^\n", "\\\n"))),
)
PROGRAMS: Final = frozenset({"image", "unit", "script", "python", "javascript"})
"""The formats of files that name Kafka for many reasons, and seldom configure it."""
