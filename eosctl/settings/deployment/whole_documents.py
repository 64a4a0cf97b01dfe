"""The documents of a file with what their format takes from elsewhere: variables, included files, and generators."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.settings.files.documents import parse_documents
from eosctl.settings.files.file_texts import mentions_kafka
from eosctl.settings.files.hocon_includes import with_includes
from eosctl.settings.files.template_files import has_template_files, with_template_files
from eosctl.settings.formats.cloud_formation import evaluated, uses_functions
from eosctl.settings.formats.node_config import names_variables, with_variables_named
from eosctl.settings.formats.tree import Branch, Node
from eosctl.settings.names.client_libraries import has_options_apart, with_options_joined
from eosctl.settings.platforms.chart_parameters import has_chart_parameters, with_chart_parameters
from eosctl.settings.platforms.compose_bases import with_bases
from eosctl.settings.platforms.compose_variables import interpolated, with_env_files, with_services
from eosctl.settings.platforms.kustomize_generators import merges_generated, with_generated
from eosctl.settings.platforms.openshift_templates import objects_of
from eosctl.settings.platforms.terraform_variables import refers_to_variables, with_variables
from eosctl.settings.values.own_references import has_own_references, with_own_references


def documents_of(file: str, text: str, environment: str = "") -> tuple[Node, ...]:
    """Return the documents of a file, resources of a list each as one; those of Terraform for an environment."""
    parsed = with_includes(parse_documents(file, text), file, text)
    if names_variables(file):
        parsed = tuple(map(with_variables_named, parsed))
    if uses_functions(text):
        parsed = tuple(map(evaluated, parsed))
    if has_own_references(text):
        parsed = tuple(map(with_own_references, parsed))
    if "image:" in text:
        parsed = tuple(map(with_services, parsed))
    if "extends:" in text:
        parsed = tuple(with_bases(document, file) for document in parsed)
    if merges_generated(text):
        parsed = tuple(with_generated(document, file) for document in parsed)
    if "env_file" in text:
        parsed = tuple(with_env_files(document, file) for document in parsed)
    if "$" in text and "services" in text:
        parsed = tuple(interpolated(document, file) for document in parsed)
    if file.lower().endswith(".tf"):
        parsed = tuple(_of_terraform(document, file, text, environment) for document in parsed)
    if has_chart_parameters(text):
        parsed = tuple(map(with_chart_parameters, parsed))
    if has_options_apart(text):
        parsed = tuple(map(with_options_joined, parsed))
    return tuple(part for document in parsed for part in _members(document))


def _of_terraform(document: Node, file: str, text: str, environment: str) -> Node:
    if refers_to_variables(file, text) and mentions_kafka(file, text):
        document = with_variables(document, file, environment)
    return with_template_files(document, file) if has_template_files(file, text) else document


def _members(document: Node) -> Iterator[Node]:
    """Yield the resources of a Kubernetes list or of an OpenShift template, and any other document as it is."""
    if (objects := objects_of(document)) is not None:
        yield from objects
    elif isinstance(document, Branch) and document.text("kind") == "List" and document.text("apiVersion") is not None:
        yield from document.items("items")
    else:
        yield document
