"""Documents without a place for a setting of Kafka: resources of Kubernetes, blocks of Terraform, logins.

Pipelines and tasks of Ansible have one, and name Kafka for many other reasons.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.model.parameter import relaxed
from eosctl.settings.deployment.client_signs import shows_no_client
from eosctl.settings.files.file_texts import is_of_others, mentions_kafka
from eosctl.settings.formats.sql_file import SQL_FILES
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row, flatten
from eosctl.settings.frameworks.pipelines import is_pipeline_without_kafka
from eosctl.settings.platforms.ansible import brings_roles_alone
from eosctl.settings.platforms.ansible_inventory import inventory_of, parse_inventory
from eosctl.settings.platforms.kustomizations import names_files_alone
from eosctl.settings.platforms.pipeline_services import is_pipeline
from eosctl.settings.programs.unread_lines import names_setting

_PLAIN: Final = frozenset(
    {
        *("Namespace", "Service", "ServiceAccount", "StorageClass", "PersistentVolume", "PersistentVolumeClaim"),
        *("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "NetworkPolicy", "PodDisruptionBudget"),
        *("Ingress", "ServiceMonitor", "PodMonitor", "PrometheusRule", "Route", "CustomResourceDefinition"),
        *("GitRepository", "HelmRepository", "OCIRepository", "ImageRepository", "ImagePolicy", "AppProject"),
        *("ExternalSecret", "SealedSecret", "SecretStore", "ClusterSecretStore", "Certificate", "Issuer"),
        *("ClusterIssuer", "KafkaRebalance", "KafkaAccess", "LimitRange", "ResourceQuota", "PriorityClass"),
        *("GrafanaDashboard", "ApicurioRegistry", "SchemaRegistry", "ControlCenter", "Schema", "SchemaExporter"),
        *("ConfluentRolebinding", "KafkaRestClass", "KRaftMigrationJob", "Zookeeper"),
        *("VMServiceScrape", "VMPodScrape", "VMNodeScrape", "VMStaticScrape", "VMRule"),
        *("PodChaos", "NetworkChaos", "StressChaos", "DNSChaos", "HTTPChaos", "IOChaos", "JVMChaos", "TimeChaos"),
        *("OperatorGroup", "CatalogSource", "Subscription"),
        *("Gateway", "HTTPRoute", "TLSRoute", "TCPRoute", "VirtualService", "DestinationRule", "ServiceEntry"),
    }
)
_NETWORK: Final = ("AWS::EC2::", "AWS::IAM::", "AWS::ElasticLoadBalancing")
_NAMES_ALONE: Final = frozenset({"KafkaTopic", "KafkaConnector"})
"""Resources of Strimzi's operator that may have a name alone."""
_HELD: Final = ("Secret", "ConfigMap")
_CREDENTIAL: Final = re.compile(
    r"\.(?:crt|key|pem|p12|jks|keytab)$|(?:^|[._-])(?:(?:access|secret|api)?[._-]?key|pass(?:word|wd|phrase)?|pwd"
    r"|secret|user(?:name)?|token|cert(?:ificate)?s?|credentials?)$",
    re.IGNORECASE,
)
"""How keys of a Secret end that hold the login or the certificate of a client."""
_SERVERS: Final = frozenset({"KafkaRestProxy", "KsqlDB", "ClusterLink"})
"""Resources of Confluent's operator that seldom have a setting on which exactly-once depends."""
_DELIVERIES: Final = frozenset({"Application", "ApplicationSet", "HelmRelease", "Kustomization"})
_CHANGES: Final = frozenset({"values", "valuesObject", "parameters", "patches", "postBuild", "set"})
"""Keys under which a delivery has values of a chart or patches of its own."""
_BLOCKS: Final = frozenset({"terraform", "provider", "variable", "output", "data", "import", "moved", "removed"})
_OF_PLATFORMS: Final = (
    *("aws_acm", "aws_cloudwatch_", "aws_db_", "aws_ebs_", "aws_eip", "aws_eks_", "aws_elb", "aws_iam_"),
    *("aws_kms_", "aws_lb", "aws_msk_scram_secret_association", "aws_msk_vpc_connection", "aws_network_", "aws_route"),
    "aws_key_pair",
    *("aws_s3_", "aws_secretsmanager_", "aws_security_group", "aws_subnet", "aws_volume_attachment", "aws_vpc"),
    *("aws_msk_cluster_policy", "aws_msk_serverless_cluster", "confluent_api_key", "confluent_role_binding"),
    *("confluent_schema_registry_", "confluent_service_account"),
    *("confluent_flink_", "snowflake_"),
    *("confluent_environment", "confluent_network", "confluent_private_link", "google_compute_firewall"),
    *("google_compute_network", "google_compute_subnetwork", "google_dns_", "google_project_iam", "google_service_"),
    *("kubernetes_namespace", "kubernetes_service", "random_", "tls_", "yandex_vpc_", "yandex_dns_"),
)
"""How types of resources in Terraform begin that have no place for a setting of Kafka."""
_CONFLUENT_CLUSTER: Final = "confluent_kafka_cluster"
"""A cluster of Confluent Cloud: its settings are resources of their own."""
_OF_ZOOKEEPER: Final = ("dataDir", "clientPort")
_LOGIN: Final = re.compile(
    r"^[ \t]*[\w.]+[ \t]*\{\s*[\w.]+LoginModule\s+(?:required|requisite|sufficient|optional)\b", re.M
)
_PLAY: Final = frozenset(
    {
        *("hosts", "tasks", "import_playbook", "import_tasks", "include_tasks", "import_role", "include_role"),
        "register",
        *("when", "notify", "listen", "become", "shell", "command", "debug", "assert", "fail", "template", "copy"),
        *("file", "uri", "systemd", "service", "package", "yum", "apt", "wait_for", "set_fact", "block", "with_items"),
    }
)
_IMAGE: Final = re.compile(r"(?:^|[.])(?:\w*[iI]mage|repository|registry)(?:[.](?:repository|registry|name|tag))?$")
_SERVER_IMAGE: Final = re.compile(
    r"kafka(?:-native)?|redpanda|cp-(?:enterprise-)?(?:kafka|server)[\w-]*|[\w-]*kafka-connect[\w-]*"
)
_QUERY: Final = re.compile(r"\bKAFKA_TOPIC\s*=|\bEMIT\s+CHANGES\b", re.IGNORECASE)


def has_no_setting(documents: Sequence[Node], file: str, text: str) -> bool:
    """Return whether a file from which nothing was read is understood all the same.

    It is one of blocks of Terraform that declare and return values, of ZooKeeper, of hosts, or of logins; or one of a
    pipeline, of tasks, of a scenario of Molecule, or of queries that names nothing on which exactly-once depends.
    """
    if file.lower().endswith(".tf"):
        return all(isinstance(one, Branch) and _declares_values(one) for one in documents)
    if any(isinstance(one, Branch) and all(one.get(key) is not None for key in _OF_ZOOKEEPER) for one in documents):
        return True
    if file.lower().endswith(".ini"):
        return parse_inventory(text, file) is not None and not names_setting(text)
    if file.lower().endswith((".conf", ".config")) and _LOGIN.search(text) is not None:
        return True
    if shows_no_client(tuple(documents), file, text):
        return not names_setting(text)
    is_of_others = any(is_pipeline(one, file) or _has_tasks(one) for one in documents)
    is_of_others = is_of_others or any(map(is_pipeline_without_kafka, documents)) or any(map(_is_of_tool, documents))
    is_of_others = is_of_others or _names_kafka_in_images_alone(documents, file)
    is_of_others = is_of_others or (file.lower().endswith(SQL_FILES) and _QUERY.search(text) is not None)
    return is_of_others and not names_setting(text)


def _names_kafka_in_images_alone(documents: Sequence[Node], file: str) -> bool:
    """Return whether a chart's values name Kafka in images alone, and none of them is that of a server.

    Values for a broker or a worker without a setting leave all to the chart, which is not among the files.
    """
    leaves = [leaf for one in documents for leaf in (flatten(one) if isinstance(one, Branch) else ())]
    images = [leaf.text or "" for key, leaf in leaves if _IMAGE.search(key) is not None]
    others = "\n".join(f"{key}: {leaf.text}" for key, leaf in leaves if _IMAGE.search(key) is None)
    names = {one.partition("@")[0].rpartition("/")[2].partition(":")[0] for one in images}
    are_servers = any(_SERVER_IMAGE.fullmatch(one) for one in names)
    return bool(images) and not are_servers and not mentions_kafka(file, others)


def _declares_values(document: Branch) -> bool:
    variables = document.branch("variable")
    named = variables.entries if variables is not None else ()
    defaults = [one.get("default") for _, one in named if isinstance(one, Branch)]
    is_plain = all(one is None or isinstance(one, Leaf) or not _entries(one) for one in defaults)
    return is_plain and all(name in _BLOCKS or _is_of_platform(name, block) for name, block in document.entries)


def _is_of_platform(name: str, block: Node) -> bool:
    kinds = [kind for kind, _ in block.entries] if name == "resource" and isinstance(block, Branch) else []
    return bool(kinds) and all(kind.startswith(_OF_PLATFORMS) or kind == _CONFLUENT_CLUSTER for kind in kinds)


def _entries(node: Branch | Row) -> Sequence[object]:
    return node.entries if isinstance(node, Branch) else node.nodes


def _is_of_tool(document: Node) -> bool:
    """Return whether a document is a scenario of Molecule, a role's data for Galaxy, a profile of rpk, or a server."""
    if not isinstance(document, Branch):
        return False
    is_molecule = bool(document.items("platforms")) and document.get("provisioner") is not None
    is_profile = document.get("kafka_api", "brokers") is not None and document.branch("admin_api") is not None
    return is_molecule or is_profile or document.get("galaxy_info") is not None or document.text("kind") in _SERVERS


def _has_tasks(document: Node) -> bool:
    members = document.nodes if isinstance(document, Row) else ()
    keys = [{key.rpartition(".")[2] for key, _ in one.entries} for one in members if isinstance(one, Branch)]
    return 0 < len(keys) == len(members) and not all(_PLAY.isdisjoint(own) for own in keys)


def has_no_place(document: Node, file: str) -> bool:
    """Return whether a document has no place for a setting: a resource, an inventory, or one that names others."""
    is_of_files = brings_roles_alone(document) or names_files_alone(document, file)
    return is_of_files or _is_plain_resource(document) or inventory_of(document) is not None


def _is_plain_resource(document: Node) -> bool:
    """Return whether a document is a resource of Kubernetes that has no place for a setting of Kafka.

    A resource that names a folder or a chart for Flux or Argo CD has one only with values or patches of its own.
    """
    if not isinstance(document, Branch) or document.text("apiVersion") is None:
        return False
    kind = document.text("kind") or ""
    if kind == "KafkaUser":
        return document.get("spec", "authorization") is None
    if kind in _HELD:
        return _holds_no_setting(document)
    if kind in _NAMES_ALONE:
        return not any(leaf.text for _, leaf in flatten(document.branch("spec") or Branch((), 0)))
    return kind in _PLAIN or (kind in _DELIVERIES and not _changes_settings(document))


def _holds_no_setting(document: Branch) -> bool:
    """Return whether a Secret holds keys and passwords alone, or a ConfigMap the rules of monitoring alone."""
    data = [one for key in ("data", "stringData") for one in (document.branch(key) or Branch((), 0)).entries]
    if document.text("kind") == "Secret":
        return bool(data) and all(_CREDENTIAL.search(key) is not None for key, _ in data)
    texts = [child.text or "" for _, child in data if isinstance(child, Leaf)]
    return bool(texts) and len(texts) == len(data) and all(is_of_others("rules.yaml", text) for text in texts)


def _changes_settings(node: Node) -> bool:
    if isinstance(node, Row):
        return any(map(_changes_settings, node.nodes))
    return isinstance(node, Branch) and any(key in _CHANGES or _changes_settings(child) for key, child in node.entries)


def is_called_like_settings(node: Branch, key: str) -> bool:
    """Return whether the keys of a mapping are called like settings, and are none.

    They are labels of a rule of the JMX exporter, attributes of an entity in a catalog, Cruise Control's own settings
    with what it expects of brokers, or CloudFormation's groups of addresses.
    """
    if node.get("pattern") is not None and key == "rules":
        return True
    if node.get("attributes") is not None and node.get("typeName") is not None:
        return True
    return relaxed(key).startswith("cruisecontrol") or (node.text("Type") or "").startswith(_NETWORK)
