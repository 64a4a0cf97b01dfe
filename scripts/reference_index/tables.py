"""Index entries of the product's tables: settings, metrics, alerts, APIs, and wire features."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib import resources

from eosctl.checks.registry import checks_reading
from eosctl.knowledge.metrics import load_metrics, load_missing
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.knowledge.protocol import load_protocol, releases_text, versions_by_release
from eosctl.knowledge.setting_effects import load_setting_effects
from eosctl.knowledge.update_modes import explain_update
from eosctl.model.known_bug import version_text
from eosctl.model.parameter import Parameter, ParameterTable
from eosctl.model.reference import Entry, EntryKind, Fact
from eosctl.monitoring.alerts import load_alerts
from eosctl.text import release_text
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.schema.table import FOLDER, Field, Section, load_table


def setting_entries() -> Iterator[Entry]:
    """Yield one entry for each setting of any component."""
    by_name: dict[str, list[tuple[ParameterTable, Parameter]]] = defaultdict(list)
    for table in load_tables().values():
        for name, parameter in table.parameters.items():
            by_name[name].append((table, parameter))
    constants = _constants()
    for name, found in sorted(by_name.items()):
        owners = [table.component for table, _ in found]
        effect = load_setting_effects().get(name, "")
        rules = checks_reading(name)
        yield Entry(
            kind=EntryKind.SETTING,
            name=name,
            means=effect or f"A setting of {_listed(owners)}.",
            aliases=tuple(dict.fromkeys([*(p.alias for _, p in found if p.alias), *constants[name]])),
            facts=(
                *(Fact(table.component, _history(table, parameter)) for table, parameter in found),
                *(Fact("change", text) for text in _updates(name, owners)),
                *(Fact("rule", f"{rule.id} {rule.title}") for rule in rules),
            ),
            next_steps=("eosctl config lint conf/",) if rules else (),
        )


def _updates(name: str, owners: Iterable[str]) -> Iterator[str]:
    """Yield how a changed value takes effect, each with the components for which it does so."""
    by_update: dict[str, list[str]] = defaultdict(list)
    for component in owners:
        by_update[explain_update(component, name)].append(component)
    for update, components in by_update.items():
        yield f"counts {update} ({', '.join(components)})"


def _constants() -> dict[str, list[str]]:
    """Return the constants of Java that name settings in other words, by setting."""
    text = (resources.files("eosctl.knowledge.reference") / "setting_constants.tsv").read_text(encoding="utf-8")
    found: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        constant, name = line.split("\t")
        found[name].append(constant)
    return found


def _history(table: ParameterTable, parameter: Parameter) -> str:
    """Return a setting's type, and its default and bounds by release of the software."""
    software = "" if table.software in ("Kafka", table.component) else f"{table.software} "
    parts: list[str] = []
    for index, span in enumerate(parameter.spans):
        release = f"{software}{release_text(span.since)}"
        if span.absent:
            parts.append(f"absent in {release}")
            continue
        default = "no default" if span.default is None else f"default {span.default or 'empty'}"
        earlier = " or earlier" if index == 0 and span.since == table.first else ""
        parts.append(f"{default} since {release}{earlier}{f', {span.bounds}' if span.bounds else ''}")
    if parameter.removed is not None:
        parts.append(f"removed in {software}{release_text(parameter.removed)}")
    return f"{parameter.type}; {'; '.join(parts)}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def metric_entries() -> Iterator[Entry]:
    """Yield the metrics that exist, and quoted names that do not."""
    for metric in load_metrics():
        since = f", since {version_text(metric.since)}" if metric.since else ""
        until = f", until {version_text(metric.until)}" if metric.until else ""
        yield Entry(
            kind=EntryKind.METRIC,
            name=metric.name,
            means=metric.means,
            aliases=tuple(dict.fromkeys((metric.bean, *metric.prometheus))),
            facts=(
                Fact("bean", f"{metric.bean} ({metric.component}{since}{until})"),
                *(() if metric.is_yammer else (Fact("attribute", metric.name),)),
                Fact("kind", f"{metric.kind.value}{f', {metric.unit}' if metric.unit else ''}"),
                *((Fact("healthy", metric.healthy),) if metric.healthy else ()),
                *(Fact("exporter", name) for name in metric.prometheus),
            ),
            next_steps=(f"eosctl metrics show URL --only {metric.name}",),
        )
    for missing in load_missing():
        yield Entry(
            kind=EntryKind.METRIC,
            name=missing.names[0],
            means=f"No release of Kafka has a metric of this name. {missing.how}",
            aliases=tuple(dict.fromkeys((*missing.names[1:], *_last_words(missing.names)))),
            facts=tuple(
                Fact("use", metric.bean if metric.is_yammer else f"{metric.bean} {metric.name}")
                for metric in missing.instead
            ),
            see=tuple(metric.name for metric in missing.instead),
        )


def _last_words(names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        word = name.rpartition("name=")[2] if "name=" in name else name.rpartition(" ")[2]
        if word != name:
            yield word


def alert_entries() -> Iterator[Entry]:
    """Yield the alerts of the product."""
    for alert in load_alerts():
        yield Entry(
            kind=EntryKind.ALERT,
            name=alert.name,
            means=alert.summary,
            facts=(Fact("expression", alert.expression), Fact("severity", f"{alert.severity}, held for {alert.hold}")),
            next_steps=(alert.next_step,),
        )


def api_entries() -> Iterator[Entry]:
    """Yield Kafka's APIs, with versions and fields where the wire schema has them."""
    described: set[int] = set()
    for path in sorted((FOLDER / "api").glob("*.msg")):
        table = load_table(path)
        described.add(table.number or 0)
        yield Entry(
            kind=EntryKind.API,
            name=table.name,
            means=f"A request of Kafka's protocol, API key {table.number}.",
            aliases=(f"{table.name}Request", f"{table.name}Response", _upper(table.name)),
            facts=(
                Fact("API key", str(table.number)),
                Fact("versions", _served(table.name) or "none is stable"),
                *(Fact(section.name, _fields(section)) for section in table.sections),
            ),
        )
    for key in ApiKey:
        if key not in described:
            name = "".join(part.capitalize() for part in key.name.split("_"))
            yield Entry(EntryKind.API, name, f"A request of Kafka's protocol, API key {int(key)}.", aliases=(key.name,))


def _served(api: str) -> str:
    """Return the stable versions of a request, releases with the same ones together."""
    by_versions: dict[str, list[str]] = {}
    for release, versions in versions_by_release(api).items():
        by_versions.setdefault(f"{versions.first} to {versions.last}", []).append(release)
    return "; ".join(f"{releases_text(tuple(releases))}: {span}" for span, releases in by_versions.items())


def metadata_version_entries() -> Iterator[Entry]:
    """Yield the levels of `metadata.version`, by the names of all releases."""
    for version in load_protocol().metadata_versions:
        begins = f" It begins {', '.join(version.begins)}." if version.begins else ""
        older = f"IBP_{version.name.replace('.', '_').replace('-', '_')}"
        yield Entry(
            kind=EntryKind.FEATURE,
            name=version.name,
            means=f"Level {version.level} of metadata.version, of Kafka {version.name.partition('-')[0]}.{begins}",
            aliases=(older, f"metadata.version {version.level}", f"metadata.version={version.name}"),
            next_steps=("eosctl runbook show metadata-version-upgrade",),
            runbooks=("metadata-version-upgrade",),
            see=("metadata.version",),
        )


def _upper(name: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() and at else letter for at, letter in enumerate(name)).upper()


def _fields(section: Section) -> str:
    return ", ".join(_field(field, section) for field in section.fields) or "no fields"


def _field(field: Field, section: Section) -> str:
    versions = ""
    if field.versions.first > section.versions.first:
        versions = f" (since {field.versions.first})"
    if field.versions.last < section.versions.last:
        versions = f" (up to {field.versions.last})"
    inner = f" [{', '.join(_field(one, section) for one in field.fields)}]" if field.fields else ""
    return f"{field.name}{versions}{inner}"
