"""Name the cause of a failed authentication by the reason in its text.

A broker refuses an authentication for many reasons: only some of them concern credentials. The reason is in Kafka's own
sentence (``SaslServerAuthenticator``, ``SaslClientAuthenticator``), in that of a SASL mechanism, or in that of a
service in front of the broker, such as Amazon MSK.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

_KIND: Final = "authentication_failed"
_UNNAMED: Final = "credentials-or-protocol-refused"
_UNTRUSTED: Final = "tls-handshake-failed"
_EXPIRED: Final = "certificate-expired"
_TO_ALL: Final = " cannot connect to the brokers,"
_PEER: Final = re.compile(r"://([\w.-]{1,253}:\d{1,5})/")
_OF_BROKER: Final = re.compile(
    r"(?i:\bverify (?:the )?(?:broker|server)(?:'s)? certificate|\b(?:broker|server) certificate\b)"
)
"""A client that checks the certificate of the other side."""
_GENERAL_EFFECT: Final = ", so brokers refuse all its requests"
_GENERAL_TLS: Final = ": a certificate is not trusted, expired, or for another host, or the listener does not use TLS."


class _Reason(NamedTuple):
    """The texts of a reason, its slug, what it means, and what to do."""

    text: re.Pattern[str]
    cause: str
    meaning: str
    next_step: str


_REASONS: Final = (
    _Reason(
        re.compile(
            r"(?i:\bfirewall (?:checks?|rules?)\b"
            r"|\bpublic network access\b[^\n]{0,60}\b(?:disabled|denied|not allowed)\b"
            r"|\bIP(?: address)?\b[^\n]{0,60}\b(?:prevented|not (?:allowed|authorized|permitted)|blocked|denied)\b"
            r"|\b(?:denied|blocked|rejected) by (?:an? |the )?(?:IP|network)[ -](?:filter|rule|polic|ACL))"
        ),
        "address-not-allowed",
        "The reason is the address from which the client connects: a firewall or network rule of the service does not "
        "allow it. The credentials were not judged.",
        "Find the address with which the client reaches the service (subnet, NAT, proxy, private endpoint), and add it "
        "to the firewall or network rules of the service, e.g. those of the Event Hubs namespace. Do not change "
        "credentials or permissions.",
    ),
    _Reason(
        re.compile(
            r"(?i:\b(?:connections?|handles?) ?quota ?exceeded|\bquota of (?:concurrent |open |active )?connections\b"
            r"|\bexceed\w*\b[^\n]{0,80}\b(?:quota|limit|maximum)\b[^\n]{0,40}\bconnections?\b"
            r"|\b(?:maximum|max|limit)\b[^\n]{0,40}\bconnections?\b[^\n]{0,40}\b(?:exceeded|reached)\b"
            r"|\bcannot allocate more handles\b)"
        ),
        "connection-quota-exhausted",
        "The reason is a quota of open connections, not the credentials: the service accepts no further one.",
        "Close clients that are not used, and use one producer or consumer for each process. Then compare the open "
        "connections with the quota of the service's tier, and raise it if all are needed.",
    ),
    _Reason(
        re.compile(r"(?i:\btoo many (?:connects|connections|requests)\b|\brate (?:limit|exceeded)|\bthrottled\b)"),
        "connection-rate-limited",
        "The reason is a limit on new connections, not the credentials: the client opens connections faster than the "
        "broker admits them.",
        "Reuse one producer or consumer instead of a new one for each request, spread restarts over time, and raise "
        "reconnect.backoff.ms and reconnect.backoff.max.ms. Do not change credentials or permissions.",
    ),
    _Reason(
        re.compile(
            r"(?i:\b(?:namespace|cluster|tenant|account|subscription)\b[^\n]{0,80}\b(?:is|was|has been|in a) "
            r"(?:disabled|suspended|deactivated|deleted|paused)\b|\bMessagingEntityDisabled\b)"
        ),
        "service-disabled",
        "The reason is the service: the namespace or cluster is disabled, so it admits no client.",
        "Check the state of the namespace, cluster, or subscription with the provider, and enable it again. Do not "
        "change credentials or permissions.",
    ),
    _Reason(
        re.compile(
            r"(?i:\b(?:api[ -]?key|access key|shared access (?:key|policy))\b[^\n]{0,80}"
            r"\b(?:not (?:found|exist|valid|recognized|belong)|unknown|invalid|deleted|revoked|disabled)\b"
            r"|\b(?:unknown|invalid|no such|unrecognized) (?:api[ -]?key|access key)\b)"
        ),
        "api-key-unknown",
        "The reason is the API key: the service does not know it, or it was deleted or belongs to another cluster.",
        "Check that the key exists and was created for this cluster, and that its secret is the one in the client's "
        "settings. A new key may take some minutes until it is accepted.",
    ),
    _Reason(
        re.compile(
            r"(?i:\b(?:namespace|messaging entity|logical cluster|cluster|tenant)\b[^\n]{0,160}"
            r"\b(?:(?:could |was |is )?not (?:be )?(?:found|exist)|does not exist|unknown|cannot be resolved)\b"
            r"|\b(?:unknown|no such) (?:namespace|(?:logical )?cluster|tenant)\b)"
        ),
        "cluster-unknown",
        "The reason is the address or the id of the service: it does not know the namespace or cluster that the client "
        "names.",
        "Compare bootstrap.servers, and the cluster id, namespace, or entity in the connection string or in the "
        "extensions of the login, with those of the provider. The service may have been deleted or renamed.",
    ),
    _Reason(
        re.compile(
            r"(?i:\bclaim(?:\(s\)|s)? (?:is|are) (?:required|missing)\b|\bmissing (?:required )?claims?\b"
            r"|\bclaims?\b[^\n]{0,60}\bnot present\b)"
        ),
        "claim-missing",
        "The reason is a claim: the service accepts the identity, but its key or token lacks the right for the "
        "request.",
        "Give the policy, role, or token of this client the claim that the reason names (Send and Listen are those of "
        "Event Hubs), or use the connection string of a policy that has it. The password is not the cause.",
    ),
    _Reason(
        re.compile(
            r"(?i:\b(?:unable to load|failed to (?:find|load|retrieve|get)|no|could not (?:load|find))\b[^\n]{0,20} "
            r"credentials\b[^\n]{0,60}(?:provider|\bchain\b|\bIAM\b)|\bNoCredentialProviders\b|\bNoCredentialsError\b)"
        ),
        "credentials-not-found",
        "The reason is on the client's side: it found no credentials to log in with, so none was refused.",
        "Check where the client takes its credentials from: environment, profile, role of the pod or instance (web "
        "identity token, metadata service). Brokers and policies are not the cause.",
    ),
    _Reason(
        re.compile(
            r"(?:Failed to (?:configure|create) SaslClient|Could not find a '[^'\n]{1,80}' entry in the JAAS"
            r"|\b[Nn]o LoginModules? (?:configured|found)\b|\bunable to find LoginModule class\b)"
        ),
        "login-not-created",
        "The reason is on the client's side: it could not create its login, so it sent none, and no broker refused it.",
        "Check the settings of this client: sasl.mechanism, sasl.jaas.config, sasl.client.callback.handler.class, and "
        "that the classes they name are on its class path. The clients of a connector take theirs from consumer.* and "
        "producer.* of the worker.",
    ),
    _Reason(
        re.compile(r"(?i:\b(?:local|SAS|key) ?auth(?:entication)?\b[^\n]{0,40}\bdisabled\b)"),
        "keys-disabled",
        "The reason is the kind of login: the service does not accept keys, only identities.",
        "Use SASL/OAUTHBEARER with an identity that has a role on the namespace, or enable local (SAS) authentication.",
    ),
    _Reason(
        re.compile(r"(?i:\bclock skew\b|KRB_AP_ERR_SKEW|\bused before issued\b|\bnot yet (?:valid|current)\b)"),
        "clocks-differ",
        "The reason is the time: the clocks of client and server differ by more than is allowed.",
        "Compare the clocks of the client, the brokers, and the server that issues tickets or tokens, and synchronize "
        "them. The credentials are not the cause.",
    ),
    _Reason(
        re.compile(
            r"(?i:\btoken (?:has |is |was )?expired\b|\bexpired (?:token|jwt|credential|ticket)|\bJWT_EXPIRED\b"
            r"|\bsession too short\b|\bsignature expired\b|\bcredentials? (?:has |have |is |are )?expired\b"
            r"|\bexpired at \d|DELEGATION_TOKEN_EXPIRED)"
        ),
        "token-expired",
        "The reason is the age of the credential: it has expired, or is about to.",
        "Find why the client did not get a new one: the refresh of its token, the session of its role, or the server "
        "that issues it. Then restart the client.",
    ),
    _Reason(
        re.compile(r"(?i:\bmechanisms? (?:'[^'\n]{1,40}' |is )?not (?:enabled|supported)|\bunsupported SASL\b)"),
        "mechanism-not-enabled",
        "The reason is the SASL mechanism: the listener does not offer the one that the client uses.",
        "Compare sasl.mechanism of the client with sasl.enabled.mechanisms of that listener, and check that the client "
        "uses the right port. The password is not the cause.",
    ),
    _Reason(
        re.compile(
            r"(?:Unexpected Kafka request of type \w{1,40} during SASL|\bIllegalSaslState|ILLEGAL_SASL_STATE"
            r"|configured with the wrong security protocol)"
        ),
        "client-without-sasl",
        "The reason is the protocol: the listener expects SASL, and the client sends requests without it.",
        "Set security.protocol of the client to SASL_PLAINTEXT or SASL_SSL, as the listener has it, or use the port of "
        "a listener without SASL.",
    ),
    _Reason(
        re.compile(r"(?i:\bCannot (?:locate|contact|find) (?:any )?KDC|\bICMP Port Unreachable\b)"),
        "kdc-not-reached",
        "The reason is Kerberos: the client finds or reaches no KDC.",
        "Check krb5.conf (realm, kdc), DNS, and the network from the client to the KDC. Brokers are not the cause.",
    ),
    _Reason(
        re.compile(r"(?i:\b(?:client|server) not found in kerberos database)"),
        "principal-unknown",
        "The reason is Kerberos: the KDC does not know the principal of the client, or that of the broker's address.",
        "Compare the principal in the keytab, sasl.kerberos.service.name, and the broker's host name with the KDC.",
    ),
    _Reason(
        re.compile(
            r"(?i:\binvalid (?:username or password|credentials with SASL|(?:client|user) credentials|tokenid)\b"
            r"|\bbad credentials\b|\bbad username\b|\bpre-authentication (?:information was invalid|failed)"
            r"|\bcredentials (?:for user could not be verified|could not be obtained)|\bpassword (?:verif|incorrect))"
        ),
        "user-or-password-wrong",
        "The broker does not accept the user or the password; it does not report which of them.",
        "Check that the user exists on this cluster with the SASL mechanism of the client (kafka-configs.sh --describe "
        "--entity-type users), and the password in the client's settings.",
    ),
    _Reason(
        re.compile(
            r"(?i:\binvalid_token\b|\binvalid_client\b|\bunauthorized_client\b|\binsufficient_scope\b|\binvalid_grant\b"
            r"|\bidentity pool\b[^\n]{0,60}\b(?:not|no)\b|\bunknown identity pool\b"
            r"|\btoken (?:validation|verification) failed"
            r"|\binvalid (?:token )?signature\b|\bInvalidSignature\b|\brejected due to invalid claims\b"
            r"|\bsuitable verification key\b|\bInvalid JWT\b|\b(?:invalid|wrong) (?:audience|issuer)\b)"
        ),
        "token-not-accepted",
        "The reason is the token: the token server or the broker does not accept it, or does not issue one.",
        "Compare client id, secret, scope, audience, and issuer of the client with the token server and with the OAuth "
        "settings of the brokers.",
    ),
    _Reason(
        re.compile(r"^(?:[^\n]{0,300}\W)?\[?[\da-f-]{36}\]?: Access denied\b"),
        "permission-to-connect-missing",
        "The service in front of the broker knows the identity of the client, but does not allow it to connect.",
        "Check which role or user the client runs as, and that its policy allows it to connect to this cluster "
        "(kafka-cluster:Connect in Amazon MSK).",
    ),
)
"""The first that matches counts."""


_OF_TLS: Final = (
    _Reason(
        re.compile(
            r"(?:certificate could not be verified, verify that ssl\.ca\.location|PKIX path building failed"
            r"|unable to find valid certification path|certificate signed by unknown authority"
            r"|(?i:self[- ]signed certificate)|unable to get (?:local )?issuer certificate)"
        ),
        "broker-certificate-not-trusted",
        "The reason is trust: the client does not have the CA that signed the broker's certificate, so it ends each "
        "connection. Brokers that it counts as down may run.",
        "Give the client the certificate of the CA that signed those of the brokers: ssl.ca.location, tls.ca_file, or "
        "ssl.truststore.location. Check it with openssl s_client. The network and the passwords are not the cause.",
    ),
    _Reason(
        re.compile(
            r"(?:No subject alternative (?:DNS )?names? |No name matching \S+ found|x509: certificate is valid for"
            r"|(?i:\b(?:host ?name|IP address) mismatch))"
        ),
        "broker-certificate-for-another-host",
        "The reason is the name: the broker's certificate does not have the address that the client uses.",
        "Compare advertised.listeners and bootstrap.servers with the subject alternative names of the certificate, and "
        "issue one with all of these names.",
    ),
)


def name_refusals(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a failed authentication has the cause that the reason in its records names, if it is one."""
    for one in incidents:
        if (one.kind, one.root_cause) == (_KIND, _EXPIRED):
            yield _with_owner(one, timeline.evidence(one))
            continue
        reasons = {_UNNAMED: _REASONS, _UNTRUSTED: _OF_TLS}.get(one.root_cause, ()) if one.kind == _KIND else ()
        if not reasons:
            yield one
            continue
        events = timeline.evidence(one)
        found = {id(reason): reason for event in events if (reason := _reason_of(event, reasons))}
        clients = sorted({name for event in events if (name := event.fields.get("client_id"))})[:MAX_EVIDENCE_COUNT]
        if len(found) == 1:
            yield _named(one, next(iter(found.values())), clients)
        else:
            yield one


def _with_owner(one: Incident, events: Sequence[LogEvent]) -> Incident:
    """Return an incident of an expired certificate with its owner, and the broker if all records name the same one."""
    peers = {event.fields.get("peer", "") for event in events}
    peers |= {found[1] for event in events if not event.fields.get("peer") and (found := _PEER.search(event.message))}
    peers.discard("")
    if len(peers) == 1:
        (peer,) = peers
        text = one.explanation.replace(_TO_ALL, f" cannot connect to the broker {peer},", 1)
        one = one._replace(explanation=f"{text} No record names another broker with this fault.")
    if not any(_OF_BROKER.search(event.message) for event in events):
        return one
    owner = f"broker {next(iter(peers))}" if len(peers) == 1 else "the brokers that the records name"
    return one._replace(
        next_step=f"Renew the certificate of {owner}, and restart or reload it. The client checks the broker's "
        "certificate here: its own one is not the cause. Transactions that were open end at their timeout."
    )


def _reason_of(event: LogEvent, reasons: Sequence[_Reason]) -> _Reason | None:
    """Return the reason that a record or the exception below it names."""
    texts = (event.fields.get("refusal", ""), event.fields.get("thrown", ""), event.message)
    return next((reason for text in texts if text for reason in reasons if reason.text.search(text)), None)


def _named(one: Incident, reason: _Reason, clients: Sequence[str]) -> Incident:
    several = {"client.ids": tuple(clients)} if len(clients) > 1 else {}
    text = one.explanation.replace(_GENERAL_EFFECT, "", 1).replace(_GENERAL_TLS, ".", 1)
    return one._replace(
        root_cause=reason.cause,
        subject={**one.subject, **several},
        explanation=f"{text} {reason.meaning}",
        next_step=reason.next_step,
    )
