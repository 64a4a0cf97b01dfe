"""Read descriptions of clusters: resources of Strimzi, and what AWS prints of Amazon MSK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from eosctl.capacity.msk_description import describe_msk, is_msk
from eosctl.capacity.partial_workload import PartialWorkload
from eosctl.capacity.plain_document import find, find_items, find_text
from eosctl.capacity.strimzi_description import describe_strimzi, is_strimzi
from eosctl.errors import ConfigFileError
from eosctl.knowledge.small_files import load_yaml_documents, read_small_text


def describe_file(path: Path) -> PartialWorkload:
    """Return the part of a workload that a file describes.

    Raises:
        ConfigFileError: It cannot be read, or describes no cluster.
    """
    text = read_small_text(path, "description")
    try:
        documents = list(_resources(load_yaml_documents(text)))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise ConfigFileError(f"{path} is neither YAML nor JSON.", reason, "Correct this place.") from error
    described = [document for document in documents if is_msk(document)]
    if len(described) == 1:
        return describe_msk(described[0], str(path))
    if not described and any(map(is_strimzi, documents)):
        return describe_strimzi(documents, str(path))
    raise ConfigFileError(
        f"{path} describes no cluster that is known here.",
        "It has neither resources of Strimzi (kafka.strimzi.io) nor one ClusterInfo of Amazon MSK.",
        "Save kubectl get kafka,kafkanodepool,kafkatopic -o yaml, or aws kafka describe-cluster.",
    )


def _resources(documents: Sequence[object]) -> Iterator[object]:
    """Yield documents and the items of lists, as `kubectl get` prints them."""
    for document in documents:
        if find_text(document, "kind").endswith("List") and find(document, "items") is not None:
            yield from find_items(document, "items")
        elif document is not None:
            yield document
