"""Find the mappings that hold settings of Kafka inside files about anything: charts, applications' own files, tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.model.deployment import Place, Role, Value
from eosctl.model.parameter import relaxed
from eosctl.settings.deployment.access_rule_declarations import access_rules_declared
from eosctl.settings.deployment.plain_resources import is_called_like_settings
from eosctl.settings.deployment.structures import find_sources
from eosctl.settings.files.documents import format_of, parse_properties_tree, parse_within
from eosctl.settings.files.file_texts import is_of_others
from eosctl.settings.formats.logstash_file import PIPELINE
from eosctl.settings.formats.sql_file import SQL_FILES, has_table
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten
from eosctl.settings.frameworks import framework_forms
from eosctl.settings.frameworks.actor_streams import alpakka_client
from eosctl.settings.frameworks.camel import CAMEL
from eosctl.settings.frameworks.client_parts import are_clients_apart, has_own_properties, with_parts
from eosctl.settings.frameworks.connectors import connector_of_chart
from eosctl.settings.frameworks.flink_jobs import flink_jobs
from eosctl.settings.frameworks.spark_options import spark_client
from eosctl.settings.frameworks.spring_names import OF_OTHERS, unread_by_others
from eosctl.settings.frameworks.topic_declarations import topic_declared
from eosctl.settings.names.client_libraries import has_options_apart, with_options_joined
from eosctl.settings.names.own_prefixes import own_prefixes, sources_under
from eosctl.settings.names.recognition import PREFIXED, decide
from eosctl.settings.names.setting_names import COMMON_WORDS, OF_PROGRAMS, SPRING, is_setting
from eosctl.settings.names.setting_pairs import pairs_of
from eosctl.settings.names.spellings import respelled
from eosctl.settings.names.unread import CLIENT_SETTINGS
from eosctl.settings.platforms import pipeline_services
from eosctl.settings.platforms.compose_configs import texts_of_configs
from eosctl.settings.platforms.container_scripts import scripts_within
from eosctl.settings.platforms.flink_arguments import arguments_of_jobs
from eosctl.settings.platforms.nomad_jobs import TextOfFile, files_of_tasks
from eosctl.settings.platforms.variable_files import files_in_variables
from eosctl.settings.platforms.workloads import GENERATED
from eosctl.settings.programs.command_lines import JOBS
from eosctl.settings.programs.environment import container_environment, environment_of, variables_of
from eosctl.settings.programs.kafka_commands import altered_entity
from eosctl.settings.programs.process_counts import counted_around
from eosctl.settings.values.own_references import with_own_values
from eosctl.settings.values.sources import Source, value_of, values_of

_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_BROKERS: Final = relaxed("bootstrap.servers")
MOST_LEVELS: Final = 50
"""More mappings and files around a block of text than any configuration has."""


def sources_within(node: Node, file: str, hints: tuple[str, ...]) -> list[Source]:
    """Return the settings in a document, by its kind, or else wherever mappings hold mostly settings of Kafka.

    Args:
        node: The document, or a part of it.
        file: The file's name.
        hints: Words of the surroundings.
    """
    if isinstance(node, Branch) and node.text("kind") in ("ConfigMap", "Secret"):
        data = node.branch("data") or node.branch("stringData")
        name, held = node.text("metadata", "name") or "", f"{node.text('kind')} {node.text('metadata', 'name')}"
        found = list(_config_map(data, file, name)) if data is not None else []
        return [replace(source, held_by=held) for source in found]
    if isinstance(node, Branch) and pipeline_services.is_pipeline(node, file):
        jobs = [
            *pipeline_services.pipeline_services(node, file),
            *_islands(pipeline_services.without_services(node), file, hints),
        ]
        return [*jobs, *_of_scripts(list(pipeline_services.pipeline_scripts(node)), file, hints, jobs)]
    known = find_sources(node, file)
    found = (
        list(_islands(node, file, hints)) if known is None else [*known, *_of_texts(files_of_tasks(node), file, hints)]
    )
    scripts = _of_scripts(list(scripts_within(node)), file, hints, found)
    texts = _of_texts(chain(files_in_variables(node), texts_of_configs(node, file)), file, hints)
    found = [*found, *scripts, *texts, *arguments_of_jobs(node, file)]
    return framework_forms.with_flink_deployment(found, node, file)


def _of_texts(found: Iterator[TextOfFile], file: str, hints: tuple[str, ...]) -> Iterator[Source]:
    """Yield what files configure that templates of Nomad, variables of containers, or configs of Compose hold."""
    for made in found:
        for source in _file_within(made.text, file, (*hints, made.name.lower()), made.name):
            yield replace(source, held_by=made.held_by or source.held_by)


def _of_scripts(scripts: list[Branch], file: str, hints: tuple[str, ...], others: list[Source]) -> Iterator[Source]:
    """Yield what scripts within a document configure, unless it is read from the same lines already."""
    read = {value.place.line for one in others for value in one.values.values() if value.place} if scripts else set()
    for script in scripts:
        for source in sources_within(script, file, hints):
            if not any(value.place and value.place.line in read for value in source.values.values()):
                yield source


def _islands(node: Node, file: str, hints: tuple[str, ...], key: str = "") -> Iterator[Source]:
    """Yield the mappings that hold mostly Kafka settings, wherever they are; ``key`` is what they stand under."""
    if isinstance(node, Row):
        yield from _members(node, file, hints, key)
    if not isinstance(node, Branch):
        return
    if node.text("connector.class") is not None and (nested := find_sources(node, file)) is not None:
        yield from nested
        return
    if (special := _of_its_form(node, file, hints, key)) is not None:
        yield from special
        return
    if is_called_like_settings(node, key):
        return
    if ":" in (node.text("type") or "") and (resource := node.branch("properties")) is not None:
        yield from _islands(resource, file, hints, key)  # a resource of Pulumi
        return
    if variables := _variables(node, file, hints, key):
        yield from variables
        return
    if (broker := framework_forms.broker_of_chart(node, file, hints)) is not None:
        yield from (broker, *_children(node, file, hints))
        return
    topic = topic_declared(node, key, file)
    own = _own_values(node, file) if topic is not None else {}
    if topic is not None and "bootstrap.servers" not in own and decide(own) is None:
        yield topic
        return
    if (clients := node.branch("kafka-clients")) is not None:
        yield from alpakka_client(node, clients, file, (*hints, key.lower()))
        return
    yield from _by_leaves(node, list(flatten(node)), file, hints, key)


def _variables(node: Branch, file: str, hints: tuple[str, ...], key: str) -> list[Source]:
    """Return what an environment configures, or a container of Terraform with a block for each of its variables."""
    blocks = [child for name, child in node.entries if name == "env" and isinstance(child, Branch)]
    if len(blocks) < 2 or any(block.text("name") is None for block in blocks):
        if "env" in key.lower():
            return environment_of(node, file, hints)
        are_variables = bool(node.entries) and all(_VARIABLE.fullmatch(name) for name, _ in node.entries)
        found = environment_of(node, file, hints) if are_variables else []
        return [source for source in found if source.role is not Role.BROKER]  # a job has them for a service
    commands = (node.get("command"), node.get("args"))
    variables, name = Row(tuple(blocks), blocks[0].line), node.text("name") or ""
    found = container_environment(variables, node.text("image") or "", name, file, commands)
    return [replace(source, hints=(*source.hints, *hints)) for source in found]


def _of_its_form(node: Branch, file: str, hints: tuple[str, ...], key: str) -> list[Source] | None:
    """Return what a mapping configures that its form alone identifies; None for others."""
    if (table := framework_forms.flink_table(node, file, hints, key)) is not None:
        return [table]
    spark = spark_client(node, file, hints)
    if spark is not None:
        return [spark]
    if (connector := connector_of_chart(node, file)) is not None:
        return [connector]
    return altered_entity(node, file) or access_rules_declared(node, file) or None


def _by_leaves(
    node: Branch, leaves: list[tuple[str, Leaf]], file: str, hints: tuple[str, ...], key: str
) -> Iterator[Source]:
    """Yield what a mapping with everything below it configures, else what the mappings in it do."""
    keys = [name for name, _ in leaves]
    of_spring = next((name for name in keys if SPRING.match(name)), None)
    if any(CAMEL.match(name) for name in keys):
        camel = ((name, leaf) for name, leaf in leaves if CAMEL.match(name))
        yield Source(Place(file, node.line), values_of(camel, file), hints=hints)
        if of_spring is None:
            return
    if of_spring is not None and any(name.startswith(tuple(OF_OTHERS)) for name in keys):
        yield from _of_another_framework(node, leaves, file, hints, key)
        return
    if of_spring is not None:
        yield Source(
            Place(file, node.line), values_of(leaves, file), role=Role.SPRING, hints=hints, recognized_by=of_spring
        )
        # Clients that the application makes itself, with keys of its own.
        yield from _islands(_without_spring(node), file, hints, key)
        return
    if (channels := framework_forms.channels_of(node, leaves, file, hints)) is not None:
        yield channels
        yield from _islands(framework_forms.without_channels(node), file, hints, key)
        return
    if (flink := framework_forms.flink_cluster(leaves, file, hints)) is not None:
        yield flink
        return
    if _is_flat(node) and (own := own_prefixes(leaves, file)):
        yield from sources_under(leaves, own, file, hints)
        rest = [entry for entry in node.entries if not entry[0].startswith(own)]
        yield from _islands(Branch(tuple(rest), node.line), file, hints, key)
        return
    if _hides_settings(node, keys):
        yield from _children(node, file, hints)
        return
    joined = with_parts(node)
    if joined is not node:
        leaves = list(flatten(joined))
    if (whole := _as_a_whole(joined, leaves, file, hints, key)) is not None:
        yield whole
        return
    brokers = [(name, leaf) for name, leaf in leaves if "." in name and relaxed(name) == _BROKERS]
    flat = [(name, leaf) for name, leaf in joined.entries if isinstance(leaf, Leaf)]
    direct = Branch((*flat, *(one for one in brokers if one not in flat)), node.line)
    if brokers or any(relaxed(name) == _BROKERS for name, _ in joined.entries):
        # a client's mapping, with mappings for parts of it
        client = _as_a_whole(direct, list(flatten(direct)), file, hints, key)
        yield from [client] if client is not None else []
    yield from _children(joined, file, hints)


def _hides_settings(node: Branch, keys: list[str]) -> bool:
    """Return whether names are settings only without the name that stands above them: ``app``, ``kafka_out``."""
    if are_clients_apart(node) and with_parts(node) is node:
        return True
    if len(node.entries) != 1 or isinstance(node.entries[0][1], Leaf):
        return False
    if has_own_properties(node):
        return True
    return any(not is_setting(name) and is_setting(name.partition(".")[2]) for name in keys) and not any(
        is_setting(name) and not PREFIXED.match(name) for name in keys
    )


def _of_another_framework(
    node: Branch, leaves: list[tuple[str, Leaf]], file: str, hints: tuple[str, ...], key: str
) -> Iterator[Source]:
    """Yield what the file of another framework configures; that framework reads nothing of Spring's."""
    own = _without_spring(node)
    left = unread_by_others(values_of(leaves, file))
    found = list(_islands(own, file, hints, key)) or [Source(Place(file, node.line), {}, role=Role.CONSUMER)]
    yield replace(found[0], unread=left)
    yield from found[1:]


def _without_spring(node: Branch) -> Branch:
    """Return a mapping without what Spring reads, or what stands next to it as if Spring read it."""
    kept = ((name, child) for name, child in node.entries if name.partition(".")[0].lower() != "spring")
    return Branch(tuple((name, child) for name, child in kept if name not in CLIENT_SETTINGS), node.line)


def _children(node: Branch, file: str, hints: tuple[str, ...]) -> Iterator[Source]:
    image, label = node.text("image"), node.text("name") or ""
    for name, child in node.entries:
        if image and name in ("env", "environment"):  # a machine of Molecule, or of another platform
            commands = (node.get("command"), node.get("args"))
            for source in container_environment(child, image, label, file, commands):
                yield replace(source, hints=(*source.hints, *hints))
            continue
        if isinstance(child, Leaf):
            yield from _file_within(child, file, (*hints, name.lower()))
        else:
            yield from _islands(child, file, (*hints, name.lower()), name)


def _as_a_whole(
    node: Branch, leaves: list[tuple[str, Leaf]], file: str, hints: tuple[str, ...], key: str
) -> Source | None:
    """Return a mapping as one source where it holds mostly settings, or is flat and holds any."""
    spelled = respelled(leaves, file, hints)
    known = [name for name, _, _ in spelled if name not in COMMON_WORDS and is_setting(name)]
    if has_own_properties(node):
        known = [name for name in known if not name.startswith("properties.")]
    # A single word is ambiguous, and so is one setting as a tool of another kind may write it (max_message_bytes):
    # Kafka must be named around it.
    alone = len(known) == 1 and not CLIENT_SETTINGS & {*known} and all(name not in known for name, _ in leaves)
    if (alone or all("." not in name for name in known)) and not _mentions_kafka(file, hints, leaves):
        known = []
    is_flat = _is_flat(node)
    if (known and (2 * len(known) >= len(leaves) or is_flat)) or (is_flat and decide(_own_values(node, file))):
        direct = {name for name, child in node.entries if isinstance(child, Leaf)}
        is_own = is_flat or any(written in direct and name in known for name, written, _ in spelled)
        values = {
            name: value_of(written, leaf, file, name)
            for name, written, leaf in spelled
            # A chart's empty value, under a name of its own, stands for none.
            if (name == written or leaf.text != "") and (is_own or name not in OF_PROGRAMS)
        }
        label = key if file.endswith(SQL_FILES) else ""
        return Source(Place(file, node.line), values, label, hints=hints)
    return None


def _mentions_kafka(file: str, hints: tuple[str, ...], leaves: list[tuple[str, Leaf]]) -> bool:
    """Return whether the words around a mapping, or its other keys, are about Kafka; properties are Kafka's own."""
    words = " ".join((file, *hints, *(name for name, _ in leaves))).lower()
    shown = any(word in words for word in ("kafka", "producer", "consumer", "rdkafka", "streams", "redpanda"))
    return shown or file.lower().endswith((".properties", *SQL_FILES))


def _own_values(node: Branch, file: str) -> dict[str, Value]:
    return values_of(((name, leaf) for name, leaf in node.entries if isinstance(leaf, Leaf)), file)


def _members(row: Row, file: str, hints: tuple[str, ...], key: str) -> Iterator[Source]:
    if key == "synonyms":
        return  # what other names a printed setting has, and the values that it would have else
    if "env" in key.lower():
        yield from environment_of(row, file, hints)
    elif pairs := pairs_of(row):
        yield Source(Place(file, row.line), values_of(pairs, file), hints=hints)
    elif key in GENERATED:
        yield from _literals(row, GENERATED[key], file, hints)
    else:
        for child in row.nodes:
            found = find_sources(child, file)
            if found is not None:
                yield from found
            elif isinstance(child, Leaf) and not key.startswith(JOBS):
                yield from _file_within(child, file, hints)
            else:
                yield from _islands(child, file, hints, key)


def _literals(row: Row, kind: str, file: str, hints: tuple[str, ...]) -> Iterator[Source]:
    """Yield what the literals of a kustomization configure, held by the resources that they become."""
    for member in row.nodes:
        literals = member.get("literals") if isinstance(member, Branch) else None
        if isinstance(member, Branch) and isinstance(literals, Row):
            for source in _members(literals, file, hints, "env" if not pairs_of(literals) else "literals"):
                yield replace(source, held_by=f"{kind} {member.text('name')}")


def _file_within(leaf: Leaf, file: str, hints: tuple[str, ...], name: str = "") -> Iterator[Source]:
    """Yield what a file configures that stands as a block of text inside another file.

    Args:
        leaf: The text; the file inside begins on its line.
        file: The name of the file around it.
        hints: Words of the surroundings.
        name: What the inner file is called; empty where nothing names it.
    """
    if leaf.text is None or "\n" not in leaf.text or is_of_others(name):
        return
    if len(hints) > MOST_LEVELS:
        raise RecursionError  # before the interpreter's own limit, which a parser takes for a malformed block
    file = leaf.file or file
    inner = name if name and format_of(name) is not None else f"block.{_ending_of(leaf.text)}"
    label = name if inner == name else ""
    try:
        documents = () if inner.endswith(".properties") else parse_within(inner, leaf.text, leaf.line)
    except ConfigFileError:
        documents = ()  # a block of some other text
    joined = map(with_options_joined, documents) if has_options_apart(leaf.text) else iter(documents)
    mappings = [with_own_values(document) for document in joined if isinstance(document, Branch)]
    if found := [source for one in mappings for source in counted_around(sources_within(one, file, hints), one, file)]:
        yield from (replace(source, label=source.label or label) for source in found)
        return
    try:
        tree = with_own_values(parse_properties_tree(file, leaf.text, leaf.line))
    except ConfigFileError:
        return  # a block of some other text
    if jobs := flink_jobs(tree, file):
        yield from (replace(source, label=source.label or label) for source in jobs)
    elif own_prefixes(flatten(tree), file):
        for source in _islands(tree, file, hints):
            yield replace(source, label=source.label or label)
    elif any(key not in COMMON_WORDS and is_setting(key) for key, _ in tree.entries) or any(
        SPRING.match(key) for key, _ in tree.entries
    ):
        yield Source(Place(file, leaf.line), values_of(flatten(tree), file), label, hints=hints)


def _ending_of(text: str) -> str:
    """Return the ending of a file that a block of text could be."""
    if PIPELINE.search(text) is not None and "=>" in text:
        return "conf"
    return "sql" if has_table(text) else "yaml"


def _is_flat(node: Branch) -> bool:
    """Return whether a mapping holds texts and lists of texts alone."""
    return all(
        isinstance(child, Leaf) or (isinstance(child, Row) and all(isinstance(one, Leaf) for one in child.nodes))
        for _, child in node.entries
    )


def _config_map(data: Branch, file: str, name: str) -> Iterator[Source]:
    """Yield the files that a ConfigMap holds, then what its other keys are as variables or as settings."""
    plain: list[tuple[str, Leaf]] = []
    for key, node in data.entries:
        if not isinstance(node, Leaf) or node.text is None:
            continue
        if "\n" in node.text:
            yield from _file_within(node, file, (key.lower(), name), key)
        else:
            plain.append((key, node))
    if begins := own_prefixes(plain, file):
        yield from sources_under(plain, begins, file, (name,))
        plain = [(key, leaf) for key, leaf in plain if not key.startswith(begins)]
    if plain:
        yield from variables_of(plain, "", name, file) or [
            Source(Place(file, plain[0][1].line), values_of(plain, file), name, hints=(name,))
        ]
