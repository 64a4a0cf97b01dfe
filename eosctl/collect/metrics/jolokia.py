"""Read beans through Jolokia, the JMX bridge over HTTP, in a single request."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from eosctl.collect.metrics.beans import bean_sample
from eosctl.collect.metrics.endpoint_http import fetch, refuse_endless
from eosctl.errors import AuthenticationFailed, EosctlError
from eosctl.model.metric import BeanQuery
from eosctl.model.metric_page import MetricSample
from eosctl.settings.clusters.endpoint_credentials import EndpointCredentials

_REFUSED: Final = frozenset({401, 403})
_Attributes = dict[str, msgspec.Raw]


class _Answer(msgspec.Struct, frozen=True):
    """The answer to one question; ``value`` is not decoded before its form is known."""

    status: int
    value: msgspec.Raw = msgspec.Raw()


def read_jolokia(
    url: str, queries: Sequence[BeanQuery], timeout_ms: int, credentials: EndpointCredentials
) -> tuple[MetricSample, ...]:
    """Read beans in one bulk request; missing beans and attributes are omitted.

    Raises:
        EosctlError: The endpoint does not respond, or is not Jolokia.
    """
    wanted = [{"type": "read", "mbean": query.pattern, "attribute": list(query.attributes),
               "config": {"ignoreErrors": "true"}} for query in queries]  # fmt: skip
    # Some containers redirect a path without a final slash.
    body = fetch(url.rstrip("/") + "/", timeout_ms, credentials, json.dumps(wanted).encode())
    try:
        refuse_endless(body)
        answers = msgspec.json.decode(body, type=list[_Answer])
        if len(answers) != len(queries):
            raise ValueError("the answers are not as many as the questions")
        if answers and all(answer.status in _REFUSED for answer in answers):
            raise AuthenticationFailed(
                f"{url} refuses to read beans.", "Jolokia's policy does not allow it.", "Allow reading kafka.* there."
            )
        return tuple(sample for query, answer in zip(queries, answers, strict=True) for sample in _read(query, answer))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise EosctlError(
            f"{url} does not answer as Jolokia does.", str(error)[:200], "Write http://HOST:PORT/jolokia."
        ) from error


def _read(query: BeanQuery, answer: _Answer) -> Iterator[MetricSample]:
    if answer.status != 200:
        return  # The bean does not exist here.
    # A pattern returns values by object name, a single bean by attribute.
    if "*" in query.pattern:
        beans = msgspec.json.decode(answer.value, type=dict[str, _Attributes])
    else:
        beans = {query.pattern: msgspec.json.decode(answer.value, type=_Attributes)}
    for object_name, attributes in beans.items():
        for attribute in query.attributes:
            text = bytes(attributes.get(attribute, b'""'))
            # JSON has no NaN, so Jolokia writes null. Samples are never composite.
            value = math.nan if text == b"null" else None if text[:1] in b"{[" else msgspec.json.decode(text)
            sample = bean_sample(object_name, attribute, value)
            if sample is not None:
                yield sample
