"""Texts with placeholders: the known part of ``orders-${HOSTNAME}`` before a platform fills it.

The text around a placeholder is known, and so is whether all processes of one workload receive the same text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

PLACEHOLDER: Final = re.compile(r"\$\{[^{}]*\}|\$\([^()]*\)|\{\{.*?\}\}|%\(\w+\)\w*|%\w|<[^<>]*>|@[\w.-]+@|\$\w+")
"""What stands for a text from outside of the file, in the spellings of shells, templates, and units."""
_OF_WORKLOAD: Final = re.compile(
    r"metadata\.namespace|metadata\.(?:labels|annotations)\b(?!.*(?:pod-index|pod-name|completion-index)'\]).*|spec\.serviceAccountName"
    r"|\.?Release\.\w+|\.?Chart\.\w+|\.?Values\.[\w.]+"
    r"|(?:spring|quarkus|micronaut)\.application\.name|spring\.profiles\.active|quarkus\.profile"
    r"|(?:\w+_)?(?:NAMESPACE|ENV|ENVIRONMENT|STAGE|REGION|TENANT|PROFILE|PROFILES_ACTIVE|CLUSTER|CLUSTER_NAME)"
    r"|(?:\w+_)?(?:APP|APPLICATION|SERVICE|DEPLOYMENT|RELEASE)_?(?:NAME|ENV|VERSION)",
    re.IGNORECASE,
)
"""Names of what a platform gives to all processes of a workload alike.

StatefulSets and indexed jobs label each pod with its own ``apps.kubernetes.io/pod-index``,
``statefulset.kubernetes.io/pod-name``, or ``batch.kubernetes.io/job-completion-index``.
"""
_FILTERS: Final = re.compile(r"\s*\|.*$")
_DEFAULT: Final = re.compile(r":.*$", re.DOTALL)


def known_head(text: str) -> str:
    """Return what stands before the first placeholder; all of a text without one.

    >>> known_head("orders-${HOSTNAME}-0"), known_head("orders")
    ('orders-', 'orders')
    """
    found = PLACEHOLDER.search(text)
    return text if found is None else text[: found.start()]


def may_be(text: str, word: str, *, is_prefix: bool = False) -> bool:
    """Return whether a text is a word once its placeholders are filled: with nothing only where that is the default.

    Args:
        text: The text with placeholders.
        word: The word in question.
        is_prefix: Whether something follows the text, as frameworks append a number to a prefix.

    >>> may_be("tx-${HOSTNAME}", "tx-"), may_be("tx-${HOSTNAME}", "tx-a"), may_be("tx", "tx", is_prefix=True)
    (False, True, False)
    """
    return _pattern(text, is_prefix).fullmatch(word) is not None


def may_begin_with(text: str, head: str) -> bool:
    """Return whether a text begins with a word once its placeholders are filled.

    >>> may_begin_with("tx-${HOSTNAME}", "tx-web"), may_begin_with("tx-${HOSTNAME}", "pay-")
    (True, False)
    """
    known = known_head(text)
    return known.startswith(head) or (known != text and head.startswith(known))


def is_same_for_all(text: str) -> bool:
    """Return whether all processes of one workload receive the same text.

    >>> is_same_for_all("tx-$(metadata.namespace)"), is_same_for_all("tx-${HOSTNAME}")
    (True, False)
    >>> is_same_for_all("tx-$(metadata.labels['apps.kubernetes.io/pod-index'])")
    False
    """
    return all(_OF_WORKLOAD.fullmatch(_name(found[0])) for found in PLACEHOLDER.finditer(text))


@lru_cache(maxsize=4_096)
def _pattern(text: str, is_prefix: bool) -> re.Pattern[str]:
    parts, position = list[str](), 0
    for found in PLACEHOLDER.finditer(text):
        parts += (re.escape(text[position : found.start()]), ".*" if found[0].endswith((":}", ":-}")) else ".+")
        position = found.end()
    return re.compile("".join(parts) + re.escape(text[position:]) + (".+" if is_prefix else ""), re.DOTALL)


def _name(placeholder: str) -> str:
    inner = placeholder.strip("${}()<>@% ")
    return _DEFAULT.sub("", _FILTERS.sub("", inner)).strip().removeprefix(".")
