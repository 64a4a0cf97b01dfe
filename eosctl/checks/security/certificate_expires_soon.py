"""EOS-SEC-007."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Certificate
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import duration_text, time_text

DAY_MS: Final = 86_400_000
SOON_MS: Final = 14 * DAY_MS
VERY_SOON_MS: Final = 2 * DAY_MS
#: Issuers renew certificates when a third of their validity is left.
RENEWED_BY_SHARE: Final = 5


def no_tls(case: Case) -> str:
    """Return why certificates are not judged, or an empty text."""
    return "" if any(broker.certificate for broker in case.snapshot.brokers) else "no broker was reached over TLS"


@check(
    "EOS-SEC-007",
    "Certificate of a broker expires soon",
    Area.SECURITY,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.API_VERSIONS}),
    tags=("security", "availability"),
    references=("ssl.keystore.location", "KIP-226"),
    applies=no_tls,
)
def certificate_expires_soon(case: Case) -> Iterator[Problem]:
    """Find brokers with a certificate that was not renewed in time.

    What it checks:
        The certificate of the listener that eosctl uses, of each broker. Less than 14 days and less than a fifth of its
        validity are left; in the last two days it is an error. Certificates that are valid for days only are renewed
        every day, so their remaining time alone does not decide. Other listeners, and the authority's own certificate,
        are not read.

    Why it matters for exactly-once:
        Open connections survive the expiry, new ones do not: clients that restart or move to another coordinator cannot
        connect, and their transactions run into their timeout. Brokers that use the same certificate among themselves
        lose their in-sync replicas.

    Example:
        A certificate for a year that was installed by hand, without a renewal.

    Fix:
        Install a new certificate, and load it without a restart: alter ssl.keystore.location of the listener with
        kafka-configs.sh (also to the same path).

    Verify:
        eosctl check run EOS-SEC-007 passes.
    """
    now_ms = case.snapshot.captured_at_ms
    for broker in case.snapshot.brokers:
        certificate = broker.certificate
        if certificate is None or not _is_overdue(certificate, now_ms):
            continue
        left_ms = certificate.not_after_ms - now_ms
        yield Problem(
            resource=Resource("broker", str(broker.node_id)),
            message=f"The certificate of broker {broker.node_id} at {broker.host}:{broker.port} expires in "
            f"{duration_text(left_ms)}.",
            severity=Severity.ERROR if left_ms <= VERY_SOON_MS else None,
            cause="It was not renewed, or the broker has not loaded the new one.",
            impact="From then on no client can connect to the broker. Clients that are connected notice at their next "
            "connection.",
            evidence=(Evidence("valid until", time_text(certificate.not_after_ms), f"TLS handshake {broker.node_id}"),),
            remedy=("Renew the broker's certificate, and let the broker load it.",),
            verify=(Command(f"eosctl check run EOS-SEC-007 -b {case.bootstrap}"),),
            facts=(("broker", broker.node_id), ("expires_at_ms", certificate.not_after_ms)),
        )


def _is_overdue(certificate: Certificate, now_ms: int) -> bool:
    left_ms = certificate.not_after_ms - now_ms
    validity_ms = certificate.not_after_ms - certificate.not_before_ms
    return left_ms < min(SOON_MS, validity_ms // RENEWED_BY_SHARE)
