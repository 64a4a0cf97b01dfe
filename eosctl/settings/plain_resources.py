"""Resources of Kubernetes that have no place for a setting of Kafka."""

from __future__ import annotations

from typing import Final

from eosctl.settings.tree import Branch, Node, Row

_PLAIN: Final = frozenset(
    {
        *("Namespace", "Service", "ServiceAccount", "StorageClass", "PersistentVolume", "PersistentVolumeClaim"),
        *("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "NetworkPolicy", "PodDisruptionBudget"),
        *("Ingress", "ServiceMonitor", "PodMonitor", "PrometheusRule", "Route", "CustomResourceDefinition"),
        *("GitRepository", "HelmRepository", "OCIRepository", "ImageRepository", "ImagePolicy", "AppProject"),
        *("ExternalSecret", "SealedSecret", "SecretStore", "ClusterSecretStore", "Certificate", "Issuer"),
        *("ClusterIssuer", "KafkaRebalance", "LimitRange", "ResourceQuota", "PriorityClass", "GrafanaDashboard"),
        *("Gateway", "HTTPRoute", "TLSRoute", "TCPRoute", "VirtualService", "DestinationRule", "ServiceEntry"),
    }
)
_DELIVERIES: Final = frozenset({"Application", "ApplicationSet", "HelmRelease", "Kustomization"})
_CHANGES: Final = frozenset({"values", "valuesObject", "parameters", "patches", "postBuild", "set"})
"""Keys under which a delivery has values of a chart or patches of its own."""


def is_plain_resource(document: Node) -> bool:
    """Return whether a document is a resource of Kubernetes that has no place for a setting of Kafka.

    A resource that names a folder or a chart for Flux or Argo CD has one only with values or patches of its own.
    """
    if not isinstance(document, Branch) or document.text("apiVersion") is None:
        return False
    kind = document.text("kind") or ""
    return kind in _PLAIN or (kind in _DELIVERIES and not _changes_settings(document))


def _changes_settings(node: Node) -> bool:
    if isinstance(node, Row):
        return any(map(_changes_settings, node.nodes))
    return isinstance(node, Branch) and any(key in _CHANGES or _changes_settings(child) for key, child in node.entries)
