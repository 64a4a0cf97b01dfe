"""The JSON Schema of workload files, generated from the keys by which `workload_file` reads them.

It refuses unknown keys, missing ones, and quantities that cannot be read. What follows from several figures together is
checked by a plan: the schema cannot calculate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from eosctl.capacity.quantities import (
    LARGEST,
    LARGEST_COUNT,
    UNSIGNED_NUMBER,
    UnitParser,
    parse_bytes,
    parse_count,
    parse_duration_ms,
    parse_growth,
    parse_number,
    parse_ratio,
    parse_share,
    parse_whole,
)
from eosctl.capacity.range_value import BOUNDS, is_numeric
from eosctl.capacity.release_parser import Release
from eosctl.capacity.workload_file import AUTO, INTERNAL_TOPICS, TOPIC_NAME, WRITE_ONLY
from eosctl.capacity.workload_schema import (
    API_VERSION,
    APPLICATION_KEYS,
    CLUSTER_KEYS,
    DEFAULTS_BY_KIND,
    KIND,
    STORE_KEYS,
    TOPIC_KEYS,
    UNKNOWN,
    WITH_OFFSETS,
    Choice,
    Key,
    parse_length,
    parse_positive_duration_ms,
    parse_record_part,
    parse_transaction_version,
    parse_yes_or_no,
)
from eosctl.model.workload import ApplicationKind

#: What a unit parser with a limit of its own accepts, apart from the limit.
_UNIT_PARSERS: Final[Mapping[Callable[[str], Any], UnitParser]] = {
    parse_length: parse_bytes,
    parse_record_part: parse_bytes,
    parse_positive_duration_ms: parse_duration_ms,
}


def describe_workload_files() -> dict[str, Any]:
    """Return the JSON Schema of workload files, without dialect and identity."""
    application_keys = {
        **_properties(APPLICATION_KEYS),
        "reads": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"type": "string"},
                    {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 1},
                ]
            },
            "uniqueItems": True,
            "description": "Topics that it reads; in a list of their own those that one sub-topology reads together.",
        },
        "writes": {
            "type": "object",
            "additionalProperties": _with_range(
                _number(0, LARGEST, also=(AUTO,)) | {"not": {"const": 0}},
                _number(0, LARGEST) | {"not": {"const": 0}},
            ),
            "description": f"Partitions of one transaction by topic, or {AUTO}.",
        },
        "written_by": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]
            },
            "description": "For each topic of writes an input of the sub-topology that writes it, or a list of these.",
        },
        "stores": _named(_section(_properties(STORE_KEYS), _required(STORE_KEYS)), "State stores by name."),
    }
    application = _section(application_keys, _required(APPLICATION_KEYS))
    application["allOf"] = [_rule_of_kind(kind) for kind in ApplicationKind]
    topic_name = {"pattern": f"^{TOPIC_NAME.pattern}$", "not": {"enum": list(INTERNAL_TOPICS)}}
    return _section(
        {
            "apiVersion": {"const": API_VERSION, "description": "Version of the format."},
            "kind": {"const": KIND},
            "name": {"type": ["string", "number"], "minLength": 1, "description": "Name in reports."},
            "cluster": _section(_properties(CLUSTER_KEYS), _required(CLUSTER_KEYS))
            | {"description": "Brokers and their limits."},
            "topics": _named(_section(_properties(TOPIC_KEYS), _required(TOPIC_KEYS)), "Topics by name.", topic_name),
            "applications": _named(application, "Applications by name.") | {"minProperties": 0},
            "growth_per_year": _with_range(_share(parse_growth), _share(parse_growth))
            | {"description": "Rates a year from now against today. Default: 0 %."},
        },
        ["kind", "name", "cluster", "topics", "applications"],
    )


def _section(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": required,
        "additionalProperties": False,
    }


def _named(section: dict[str, Any], description: str, name: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "minProperties": 1,
        "propertyNames": dict(name or {"minLength": 1}),
        "additionalProperties": section,
    }


def _required(keys: Mapping[str, Key]) -> list[str]:
    return [name for name, key in keys.items() if key.assumed is None]


def _properties(keys: Mapping[str, Key]) -> dict[str, Any]:
    return {name: _or_range(key) | {"description": _description(name, key)} for name, key in keys.items()}


def _or_range(key: Key) -> dict[str, Any]:
    """Return a value of a key, or a range of values if it is a number."""
    return _with_range(_value(key), _value(key._replace(assumed=None))) if is_numeric(key.parse) else _value(key)


def _with_range(value: dict[str, Any], bound: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [value, _section(dict.fromkeys(BOUNDS, bound), list(BOUNDS))]}


def _description(name: str, key: Key) -> str:
    defaults = []
    if key.assumed not in (None, UNKNOWN):
        defaults.append(f"Default: {key.assumed} ({key.why}).")
    if key in (APPLICATION_KEYS.get(name), TOPIC_KEYS.get(name)):
        defaults += [
            f"Default of {kind}: {own[name].text} ({own[name].why})."
            for kind, own in DEFAULTS_BY_KIND.items()
            if name in own
        ]
    return " ".join((key.about, *defaults))


def _rule_of_kind(kind: ApplicationKind) -> dict[str, Any]:
    """Return what an application of this kind cannot have, and what it needs."""
    foreign: dict[str, Any] = {name: False for name, key in APPLICATION_KEYS.items() if not key.applies_to(kind)}
    if kind is not ApplicationKind.STREAMS:
        foreign["stores"] = foreign["written_by"] = False
        foreign["reads"] = {"items": {"type": "string"}}
    if kind in WRITE_ONLY:
        foreign["reads"] = {"maxItems": 0}
    needed = "reads" if kind in WITH_OFFSETS else "writes"
    foreign.setdefault(needed, {"minItems": 1, "minProperties": 1})
    return {
        "if": {"properties": {"kind": {"const": kind.value}}, "required": ["kind"]},
        "then": {"properties": foreign, "required": [needed]},
    }


def _value(key: Key) -> dict[str, Any]:
    """Return what a key's parser accepts, in JSON's types."""
    also = (UNKNOWN,) if key.assumed == UNKNOWN else ()
    parse = _UNIT_PARSERS.get(key.parse, key.parse)
    if isinstance(parse, Choice):
        return {"enum": [choice.value for choice in parse.choices]}
    if isinstance(parse, UnitParser):
        units = "|".join(map(re.escape, parse.units))
        pattern = _text_pattern(rf"\+?{UNSIGNED_NUMBER}\s*(?:{units})", also)
        return {"type": "string", "pattern": pattern, "examples": [parse.example]}
    if parse in (parse_count, parse_whole):
        low, high = (1, LARGEST_COUNT) if parse is parse_count else (0, LARGEST)
        return _number(low, high, also) | {"multipleOf": 1}
    if parse in (parse_number, parse_ratio):
        return _number(1 if parse is parse_ratio else 0, LARGEST, also)
    if parse is parse_share:
        return _share(parse_share)
    if parse is parse_transaction_version:
        return {"enum": [0, 1, 2, "0", "1", "2"]}
    if isinstance(parse, Release):
        # Without quotes, YAML reads a branch as a number.
        branches = [float(name) for name in parse.names if name.count(".") == 1]
        return {"enum": [*parse.names, *branches, *also], "examples": [parse.names[-1]]}
    if parse is parse_yes_or_no:
        return {"enum": [True, False, "yes", "no"]}
    raise TypeError(f"No JSON Schema is known for what {parse} parses.")


def _number(low: float, high: float, also: Iterable[str] = ()) -> dict[str, Any]:
    return {
        "type": ["number", "string"],
        "minimum": low,
        "maximum": high,
        "pattern": _text_pattern(rf"\+?{UNSIGNED_NUMBER}", also),
    }


def _share(parse: Callable[[str], float]) -> dict[str, Any]:
    percent = rf"\+?{UNSIGNED_NUMBER}\s*%"
    if parse is parse_growth:
        return {"type": "string", "pattern": _text_pattern(percent), "examples": ["30 %"]}
    pattern = _text_pattern(rf"{percent}?")
    return {"type": ["string", "number"], "pattern": pattern, "minimum": 0, "maximum": 1, "examples": ["20 %"]}


def _text_pattern(pattern: str, also: Iterable[str] = ()) -> str:
    return rf"^\s*(?:{'|'.join((pattern, *also))})\s*$"
