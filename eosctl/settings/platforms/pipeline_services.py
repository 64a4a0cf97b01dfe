"""Services that pipelines start next to their jobs: GitHub, GitLab, Bitbucket, CircleCI, Azure, Drone, and Woodpecker.

Sources: the reference of each. GitLab hands the variables of the pipeline and the job to the services, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Place, Value
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.programs.environment import container_environment
from eosctl.settings.programs.process_counts import COUNT
from eosctl.settings.programs.program_files import OPTIONS, parse_script
from eosctl.settings.values.sources import Source

_PIPELINE: Final = re.compile(
    r"(?:^|/)(?:[\w.-]*\.gitlab-ci\.ya?ml|bitbucket-pipelines\.ya?ml|\.circleci/config\.ya?ml|azure-pipelines[\w.-]*\.ya?ml"
    r"|\.drone\.ya?ml|\.woodpecker(?:\.ya?ml|/[\w.-]+\.ya?ml)|\.github/workflows/[\w.-]+\.ya?ml)$"
)
_GITLAB: Final = ".gitlab-ci."
_SERVICES: Final = ("services", "docker", "containers")
_VARIABLES: Final = ("variables", "environment", "env")
_NAMES: Final = ("alias", "name", "container", "image")
_SCRIPTS: Final = ("script", "before_script", "after_script", "commands", "run", "command", "bash")
_COMMANDS: Final = re.compile(r"\bkafka-(?:topics|configs|server-start)|\brpk topic|<<|\bexport\b|\bcurl\b|\bdocker\b")


def is_pipeline(document: Node, file: str) -> bool:
    """Return whether a file describes a pipeline, by its path, or by the jobs of GitHub with services."""
    if not isinstance(document, Branch):
        return False
    jobs = document.branch("jobs")
    services = [job.branch("services") for _, job in jobs.entries if isinstance(job, Branch)] if jobs else []
    return any(services) or _PIPELINE.search(file) is not None


def pipeline_services(document: Branch, file: str) -> list[Source]:
    """Return what the services of a pipeline's jobs configure."""
    return list(_services(document, file, document, _variables(document) if _GITLAB in file else ()))


def without_services(node: Node) -> Node:
    """Return a pipeline without its services: what its jobs and steps configure."""
    if isinstance(node, Branch):
        kept = ((key, child) for key, child in node.entries if not (key in _SERVICES and _members(child)))
        return Branch(tuple((key, without_services(child)) for key, child in kept), node.line)
    return Row(tuple(map(without_services, node.nodes)), node.line) if isinstance(node, Row) else node


def pipeline_scripts(document: Branch) -> Iterator[Branch]:
    """Yield what the scripts of a pipeline's jobs configure."""
    for leaf in _scripts(document):
        if leaf.text and _COMMANDS.search(leaf.text):
            own, *started = parse_script(leaf.text, leaf.line)
            yield from started
            if kept := tuple(entry for entry in own.entries if not entry[0].startswith(OPTIONS)):
                yield Branch(kept, leaf.line)


def _services(node: Node, file: str, pipeline: Branch, given: tuple[tuple[str, Node], ...]) -> Iterator[Source]:
    if isinstance(node, Row):
        for child in node.nodes:
            yield from _services(child, file, pipeline, given)
    if not isinstance(node, Branch):
        return
    shared = given if node is pipeline or _GITLAB not in file else (*given, *_of_job(node, pipeline))
    for key, child in node.entries:
        members = _members(child) if key in _SERVICES else []
        for name, service in members:
            yield from _of_service(service, name, file, shared)
        if not members and not isinstance(child, Leaf) and key not in _VARIABLES:
            yield from _services(child, file, pipeline, given)


def _members(node: Node) -> list[tuple[str, Branch]]:
    """Return the services of a list or a mapping by their names."""
    if isinstance(node, Row):
        parts = [
            Branch((("name", child),), child.line) if isinstance(child, Leaf) else child
            for child in node.nodes
            if not isinstance(child, Row)
        ]
        return [(_name(part), part) for part in parts]
    named = node.entries if isinstance(node, Branch) else ()
    return [(key, child) for key, child in named if isinstance(child, Branch)]


def _name(service: Branch) -> str:
    return next((text for key in _NAMES if (text := service.text(key))), "service")


def _of_service(service: Branch, name: str, file: str, shared: tuple[tuple[str, Node], ...]) -> Iterator[Source]:
    image = service.text("image") or service.text("name") or ""
    own = next((node for key in _VARIABLES if (node := service.get(key)) is not None), None)
    variables = Branch((*shared, *own.entries), own.line) if isinstance(own, Branch) else own
    if variables is None:
        variables = Branch(shared, service.line)
    commands = (service.get("command"), service.get("entrypoint"))
    one = Value(COUNT, "1", "services", Place(file, service.line))
    for source in container_environment(variables, image, name, file, commands):
        # Each job starts services of its own: brokers of two jobs are two clusters.
        yield replace(source, described_by=f"{file}:{service.line}", instances=one)


def _of_job(job: Branch, pipeline: Branch) -> tuple[tuple[str, Node], ...]:
    """Return the variables of a job with those of the jobs that it extends."""
    above = job.get("extends")
    names = above.nodes if isinstance(above, Row) else (above,) if above else ()
    parents = [pipeline.branch(one.text) for one in names if isinstance(one, Leaf) and one.text]
    return (*(pair for parent in parents if parent for pair in _variables(parent)), *_variables(job))


def _variables(node: Branch) -> tuple[tuple[str, Node], ...]:
    own = node.branch("variables")
    return own.entries if own is not None else ()


def _scripts(node: Node, key: str = "") -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        if key in _SCRIPTS:
            yield node
    elif isinstance(node, Row):
        for child in node.nodes:
            yield from _scripts(child, key)
    else:
        for name, child in node.entries:
            yield from _scripts(child, name)
