"""Find the values of passwords, tokens, and keys by the name that stands before them.

The name decides that a value is secret, its surroundings decide where it ends. Where the end is ambiguous, more is
masked rather than less. Each character is read a bounded number of times: the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.model.api_names import is_request
from eosctl.model.localized_names import ASCII_HINTS, LOCALIZED
from eosctl.model.random_words import is_random
from eosctl.model.secret_keys import KEY_NAME, is_secret_key
from eosctl.model.secret_values import OPENER, further_value, value_behind

# Every alternative of _NAME holds one of these, so most texts are passed over without a regular expression.
_HINTS: Final = (
    "pass", "pw", "assertion", "secret", "token", "credential", "key", "jaas", "user", "salt", "hmac", "pem", "sig=",
    "sig:", "sig ", 'sig"', "sig'", "signature", "identified", "license", "psw", "authentication_", "dockerc", "saml",
    "psk", "masterauth", "mnemonic", "phrase", "ss_code", "sscode", "h_code", "hcode",
    "pincode", "pin_code", "y_code", "y code", "y-code", "y.code", "s code", "h code", "h-code", "n code", "verifier",
    *ASCII_HINTS,
)  # fmt: skip
_KEYS: Final = (
    "api", "private", "access", "account", "encryption", "signing", "master", "subscription", "storage",
    "keystore", "stored", "server", "license", "client", "shared", "auth",
)  # fmt: skip
# Each alternative starts with a letter, and looks behind at its end: so the search skips all that starts none.
_NAMES: Final = (
    "passw(?:or)?[dt]", "pass[ ._-]?(?:word|phrase|code|key)", "passwrd",
    "pswd?(?![a-z])(?<![a-z]psw)(?<![a-z]pswd)", "pass(?![a-z])(?<!bypass)(?<!compass)", "pwd",
    "client[._-]?assertion", r"pw(?![a-z])(?<!\dpw)", "secret", "token", "credential",
    "sig(?<![a-z0-9]sig)(?:nature)?(?![a-z])",
    *(f"{key}[ ._-]?key" for key in _KEYS), "key[._-]?pem", "jaas[._-]?config", "auth[._-]?user[._-]?info",
    r"salt\b(?<!\wsalt)",
    "confluent[._-]license(?![._-])", "authentication_string", "dockerc(?:onfigjson|fg)", "saml(?:response|assertion)",
    "psk(?![a-z])(?<![a-z]psk)", "masterauth", "mnemonic", "(?:seed|unlock|recovery)[ ._-]?phrase",
    "(?:access|auth|pin|recovery)[ ._-]?code(?![a-z]{2})", "code[._-]?verifier",
    *LOCALIZED,
    "hmac(?!-?sha|-?md)(?<![a-z0-9]hmac)", r"identified[ ](?:with[ ][\w'\"]{1,40}[ ](?:by|as)|by)\b",
)  # fmt: skip
_NAME: Final = rf"(?:(?:{'|'.join(_NAMES)})[\w.-]{{0,64}}|{KEY_NAME})"
_SIGN: Final = r"[ \t]{0,40}(?:=>|:=|-{1,2}>|[→⇒]|[?+|]?={1,3}|＝|：|:(?!:)|::(?=[ ]))[ \t]{0,40}"
# {"name": "password", "type": "x", "configValue": "y"}: a key, a field of a simple value, and the key of the value
_KEY: Final = r"(?P<mark>\\*[\"'])[\w.-]{1,64}(?P=mark)[ \t]{0,4}:"
_FIELD: Final = (
    r"\\*[\"']?\w{1,40}\\*[\"']?[ ]{0,4}[:=][ ]{0,4}"
    r"(?:\\*\"[^\"\n]{0,200}+\"|'[^'\n]{0,200}+'|[\w.: -]{0,80})[ \t]{0,40}"
)
_VALUE: Final = r"\\*[\"']?(?:config|property|setting|param|string)?[_-]?val(?:ue)?\b\\*[\"']?"
_LOCALIZED: Final = re.compile("|".join(LOCALIZED), re.ASCII)
_HEAD: Final = re.compile(
    rf"(?P<name>{_NAME})(?:"
    # name=value, name: value, "name": "value", name => value, name['x'] = value, name for user bob: value, name[0]=x
    r"(?:(?:[ ]for[ ](?:user[ ]|role[ ])?[^\s:=]{1,64})?(?:[ ](?:is|was)|\[\w{1,20}\])?"
    rf"\\*[\"'\])]{{0,2}}(?P<sign>{_SIGN}))"
    # | name | value |, name|value
    r"|\\*[\"'`]?(?P<bar>[ \t]{0,40}[|│┃║](?![|=])[ \t]{0,40})"
    # put("name", "value"), ('name', 'value')
    rf"|\\*[\"'][ \t]{{0,40}},[ \t]{{0,40}}(?=\\*[\"'])(?!{_KEY})"
    # ConfigEntry(name=ssl.key.password, value=x), {"name": "ssl.key.password", "value": "x"}, also in two lines of YAML
    rf"|\\*[\"']?(?:,\s{{0,40}}(?!{_VALUE}){_FIELD}){{0,6}}[ \t]{{0,40}},?\s{{0,40}}{_VALUE}{_SIGN}"
    # <password>x</password>, <a:Password type="y">x</a:Password>, <name>ssl.key.password</name><value>x</value>,
    # <property name="password">x</property>
    r"|(?P<tag></\w{1,40}>\s{0,40}<\w{1,40}>|(?:\\*[\"'])?(?:[ ][\w:.-]{1,40}=\\*[\"'][^<>\n]{0,120})?>)"
    # password (x), Password[x], setPassword("x"), passwords {a=x}, Token{value=x}
    r"|(?P<open>[ ]?(?:\{value=|[(](?:value=)?|\[|<|\{))(?=[^\s)\]>}])"
    # --password x, identified with password 'x', password is 'x'
    r"|(?P<blank>[ \t]{1,40}(?:for[ ](?:user[ ]|role[ ])?[^\s]{1,64}[ ])?"
    r"(?:(?:is|was|(?:has[ ]been[ ]|is[ ]|was[ ])?(?:set|reset|changed)[ ]to|"
    r"to|(?:changed|updated|rotated)[ ]from)[ \t]{1,40})?)(?=[^\s-])"
    # [--token, x]; ? password\n: x
    r"|(?P<argument>,[ ]{1,4}(?=[^\s\"'\\,-]))|[\"']?\r?\n[ ]{0,40}:[ ](?=\S))",
    re.ASCII,
)
# {"value": "x", "name": "password"}
_VALUE_FIRST: Final = re.compile(
    rf"{_VALUE}{_SIGN}"
    r"(?P<value>\\*\"[^\"\n]{0,1024}+\"|'[^'\n]{0,1024}+'|[^\s,;\"'}]{1,256}+)"
    r"(?:[ ]{0,4},\s{0,40}|\r?\n[ \t]{0,40}|[ \t]{1,4})"
    rf"(?:{_FIELD},\s{{0,40}}){{0,6}}\\*[\"']?(?:\w{{0,20}}name|\w{{0,20}}key|property|setting)\\*[\"']?{_SIGN}\\*[\"']?"
    rf"(?P<full>[\w.-]{{0,64}}?{_NAME})",
    re.ASCII,
)
_SOURCE_LINE: Final = re.compile(r"[\w$.-]{1,80}\.(?:java|scala|kt|py|go|cs?|rb|js):\d|(?:native|unknown)\b", re.ASCII)
_QUOTED_WITHOUT_SIGN: Final = ("pass", "pwd", "secret", "identified")
# alter user bob identified by x
_SQL_USER: Final = re.compile(r"\b(?:user|role)[ ][^ ]{1,40}[ ]\Z", re.ASCII)
# with user bob and password x
_IN_SENTENCE: Final = (
    "password", "passwd", "pwd", "pass", "passphrase", "passcode", "secret", "token", "apikey", "api key", "api-key",
)  # fmt: skip
_LEADS: Final = re.compile(r"\b(?:and|with|using|login[ ][^\s]{1,64})[ \t]\Z", re.ASCII)
# Names that no sentence holds: bindpw x, requirepass x
_UNMISTAKABLE: Final = re.compile(r"(?<![\w.-])(?:[a-z]{2,8}_?pw|require_?pass|masterauth)\Z", re.ASCII)
# wj3kPw==
_IN_BASE64: Final = re.compile(r"[a-z\d+/]{12}\Z|\d[a-z+/]{0,12}\Z", re.ASCII)
_FOLLOWS: Final = re.compile(
    r"(?:a|an|and|are|at|auth|authentication|based|because|before|by|can|cannot|combination|could|did|do|does|expired|"
    r"expiry|failed|failure|file|for|from|has|have|id|in|into|invalid|is|length|login|may|must|not|of|on|or|policy|"
    r"provided|provider|that|the|to|was|were|will|with|wrong)\b",
    re.ASCII,
)
# A word with letters and digits, or with signs between letters: password x9-Trea$ure failed; no address or number.
_LOOKS_SECRET: Final = re.compile(
    r"(?=[^\s\"'(){}\[\]<>,;]{6})(?=\S{0,256}[\d$!%^&*+])(?=\S{0,256}[A-Za-z])"
    r"(?!\w+=(?!=?(?![^\s)\]}>,;:\"']))|[\w-]+(?:\.[\w-]+)*[.:]\d+(?![^\s)\]}>,;:\"']))",
    re.ASCII,
)
_WORD: Final = re.compile(r"[\w+/=-]{12,2048}", re.ASCII)
_UUID: Final = re.compile(r"[\da-fA-F]{8}-(?:[\da-fA-F]{4}-){3}[\da-fA-F]{12}", re.ASCII)
_OPTION: Final = re.compile(r"(?:^|\s)--?[\w-]{0,40}\Z", re.ASCII)
_LISTED_OPTION: Final = re.compile(r"[\[,]\s?--?[\w-]{0,40}\Z", re.ASCII)
# Setting ssl.key.password to x
_CHANGES: Final = re.compile(r"\b(?:set|setting|chang(?:e|ed|ing)|updat(?:e|ed|ing))[ ][\w.-]{0,80}\Z", re.ASCII)
_ELEMENT: Final = re.compile(r"<[\w.:-]{0,40}\Z", re.ASCII)
_ATTRIBUTE: Final = re.compile(r"<[\w.:-]{1,40}[ ][^<>]{0,80}=\\*[\"'][\w.-]{0,40}\Z", re.ASCII)
_BEFORE: Final = 160
# Classes and source files are named after secrets, too: TokenExpiredException: ..., SecretStore.java:10.
_NEVER_A_NAME: Final = ("Exception", "Error", ".java", ".scala", ".kt", ".py")
# Settings about secrets that are none: delegation.token.max.lifetime.ms, sasl.oauthbearer.token.endpoint.url.
_HARMLESS: Final = (
    "ms", "seconds", "url", "uri", "urls", "iterations", "algorithm", "length", "type", "class", "location", "path",
    "file", "enable", "enabled", "count", "source", "audience", "issuer", "claim", "name", "size", "store", "provider",
    "mode", "policy", "ttl", "lifetime", "version", "ref", "endpoint", "range",
)  # fmt: skip
_HARMLESS_NAME: Final = re.compile(
    rf"[._-](?i:{'|'.join(_HARMLESS)})\Z|(?:{'|'.join(map(str.capitalize, _HARMLESS))})\Z", re.ASCII
)
# Kafka's controller names events so: expireDelegationTokens: failed with ...
_EVENT: Final = re.compile(r"(?:create|renew|expire|describe)delegation\Z", re.ASCII)
# The errors in responses with topics or partitions, with former names; those of other responses cannot be in such maps.
TOPIC_ERRORS: Final = """
    UNKNOWN_SERVER_ERROR NONE OFFSET_OUT_OF_RANGE CORRUPT_MESSAGE UNKNOWN_TOPIC_OR_PARTITION INVALID_FETCH_SIZE
    LEADER_NOT_AVAILABLE NOT_LEADER_OR_FOLLOWER NOT_LEADER_FOR_PARTITION REQUEST_TIMED_OUT BROKER_NOT_AVAILABLE
    REPLICA_NOT_AVAILABLE MESSAGE_TOO_LARGE STALE_CONTROLLER_EPOCH OFFSET_METADATA_TOO_LARGE NETWORK_EXCEPTION
    COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR INVALID_TOPIC_EXCEPTION
    RECORD_LIST_TOO_LARGE NOT_ENOUGH_REPLICAS NOT_ENOUGH_REPLICAS_AFTER_APPEND INVALID_REQUIRED_ACKS
    ILLEGAL_GENERATION UNKNOWN_MEMBER_ID REBALANCE_IN_PROGRESS INVALID_COMMIT_OFFSET_SIZE TOPIC_AUTHORIZATION_FAILED
    GROUP_AUTHORIZATION_FAILED CLUSTER_AUTHORIZATION_FAILED INVALID_TIMESTAMP UNSUPPORTED_VERSION
    TOPIC_ALREADY_EXISTS INVALID_PARTITIONS INVALID_REPLICATION_FACTOR INVALID_REPLICA_ASSIGNMENT INVALID_CONFIG
    NOT_CONTROLLER INVALID_REQUEST UNSUPPORTED_FOR_MESSAGE_FORMAT POLICY_VIOLATION OUT_OF_ORDER_SEQUENCE_NUMBER
    DUPLICATE_SEQUENCE_NUMBER INVALID_PRODUCER_EPOCH INVALID_TXN_STATE INVALID_PRODUCER_ID_MAPPING
    CONCURRENT_TRANSACTIONS TRANSACTIONAL_ID_AUTHORIZATION_FAILED OPERATION_NOT_ATTEMPTED KAFKA_STORAGE_ERROR
    LOG_DIR_NOT_FOUND UNKNOWN_PRODUCER_ID REASSIGNMENT_IN_PROGRESS TOPIC_DELETION_DISABLED FENCED_LEADER_EPOCH
    UNKNOWN_LEADER_EPOCH LISTENER_NOT_FOUND STALE_BROKER_EPOCH OFFSET_NOT_AVAILABLE PREFERRED_LEADER_NOT_AVAILABLE
    ELIGIBLE_LEADERS_NOT_AVAILABLE ELECTION_NOT_NEEDED NO_REASSIGNMENT_IN_PROGRESS GROUP_SUBSCRIBED_TO_TOPIC
    INVALID_RECORD UNSTABLE_OFFSET_COMMIT THROTTLING_QUOTA_EXCEEDED PRODUCER_FENCED INVALID_UPDATE_VERSION
    POSITION_OUT_OF_RANGE UNKNOWN_TOPIC_ID INCONSISTENT_TOPIC_ID TRANSACTION_ABORTABLE STALE_MEMBER_EPOCH
    FENCED_MEMBER_EPOCH
"""
_TOPIC_ERROR: Final = re.compile(rf"(?:{'|'.join(TOPIC_ERRORS.split())})(?=[,}}])", re.ASCII)
_IN_MAP: Final = re.compile(r"[{ ][\w.-]{0,248}\Z", re.ASCII)
_SECRET_NAME: Final = re.compile(rf"{_NAME}|jaas|\.pem\Z|basic[._-]auth", re.ASCII)


def is_secret_name(name: str) -> bool:
    """Return whether the value of a setting of this name is a password, a token, or a key.

    >>> is_secret_name("ssl.key.password"), is_secret_name("delegation.token.max.lifetime.ms")
    (True, False)
    """
    lower = name.lower()
    found = _SECRET_NAME.search(lower)
    if found is None or _HARMLESS_NAME.search(lower) is not None:
        return False
    return found["key"] is None or is_secret_key(name, *found.span("key"))


def holds_name(lower: str) -> bool:
    """Return whether a text in lower case may hold the name of a secret."""
    for hint in _HINTS:
        if hint in lower:
            return True
    return not lower.isascii() and _LOCALIZED.search(lower) is not None


def named_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each value that the name of a secret stands before, or right behind.

    Args:
        text: What to search.
        lower: The same in lower case, of the same length.
    """
    if "val" in lower:
        for found in _VALUE_FIRST.finditer(lower):
            if found["key"] is None or is_secret_key(text, *found.span("key")):
                yield found.span("value")
    position = masked_to = 0
    while (head := _HEAD.search(lower, position)) is not None:
        position = head.end()
        if not _is_name(text, lower, head):
            continue
        value = value_behind(text, head, masked_to)
        # A bare value may hold a name whose own value goes further: token: password="two words".
        if value.is_bare and position < masked_to:
            continue
        if value.start < value.end:
            yield value.start, value.end
            masked_to = max(masked_to, value.end)
            if not value.is_bare:
                position = value.end
            while (further := further_value(text, head, value)) is not None:
                value = further
                yield value.start, value.end
                position = masked_to = max(masked_to, value.end)


def _is_name(text: str, lower: str, head: re.Match[str]) -> bool:
    if not _names_secret(text, lower, head):
        return False
    start, end = head.span("name")
    before = lower[max(start - _BEFORE, 0) : start]
    if head["tag"] and head["tag"][0] != "<":
        return (_ELEMENT if head["tag"][0] in " >" else _ATTRIBUTE).search(before) is not None
    if head["argument"]:
        return _OPTION.search(before) is not None or _LISTED_OPTION.search(before) is not None
    if head["open"]:
        return _is_in_brackets(text, lower, head)
    if head["blank"] is None:
        return True
    words = head["blank"].strip()
    if not words and _UNMISTAKABLE.search(lower, max(start - _BEFORE, 0), end) is not None:
        return _FOLLOWS.match(lower, head.end()) is None
    if words == "to":
        return _CHANGES.search(before) is not None
    if not words and _OPTION.search(before) is not None:
        return True
    if head["name"].startswith("identified") and _SQL_USER.search(before) is not None:
        return True
    if head["name"].startswith(_QUOTED_WITHOUT_SIGN) and OPENER.match(text, head.end()) is not None:
        return True
    if head["name"] in _IN_SENTENCE and _looks_secret(text, head):
        return True
    is_led = head["name"] in _IN_SENTENCE and _LEADS.search(before) is not None
    return is_led and _FOLLOWS.match(lower, head.end()) is None


def _names_secret(text: str, lower: str, head: re.Match[str]) -> bool:
    """Return whether a name is that of a secret, without what stands between it and its value."""
    start, end = head.span("name")
    if text.endswith(_NEVER_A_NAME, start, end) or _HARMLESS_NAME.search(text[start:end]) is not None:
        return False
    if head["sign"] and _is_topic_error(text, start, head.end()):
        return False
    if head["key"] is not None:
        return is_secret_key(text, start, end, head.end())
    if head["name"].startswith("token") and _EVENT.search(lower, max(start - _BEFORE, 0), start) is not None:
        return False
    if "api" in head["name"] and is_request(text, head.end()):
        return False
    return not head["name"].startswith("pw") or _IN_BASE64.search(lower, max(start - _BEFORE, 0), start) is None


def _is_in_brackets(text: str, lower: str, head: re.Match[str]) -> bool:
    """Return whether what stands in brackets behind a name is a secret: `Password(x)`, not `load(Secret.java:10)`."""
    start = head.end()
    if _OPTION.search(lower[max(head.start("name") - _BEFORE, 0) : head.start("name")]) is not None:
        return head["open"][0] == " "
    if head["open"].endswith("value="):
        return True
    if head["open"].strip() == "{":
        return head["name"].endswith("s")
    if _SOURCE_LINE.match(lower, start) is not None:
        return False
    return OPENER.match(text, start) is not None or _looks_secret(text, head)


def _looks_secret(text: str, head: re.Match[str]) -> bool:
    """Return whether the word behind a name is none of a sentence: secrets and tokens have names that are words."""
    if head["name"].startswith(("pass", "pwd")):
        return _LOOKS_SECRET.match(text, head.end()) is not None
    word = _WORD.match(text, head.end())
    # Whether a UUID is a credential depends on the whole sentence: secret_sentences.
    return word is not None and is_random(word[0]) and _UUID.fullmatch(word[0]) is None


def _is_topic_error(text: str, name: int, value: int) -> bool:
    """Return whether a value in a map is one of Kafka's errors, so that the name before it is that of a topic.

    Args:
        text: The text.
        name: Where the name of a secret starts, which may be a part of the topic's name.
        value: Where the value starts.
    """
    return _TOPIC_ERROR.match(text, value) is not None and _IN_MAP.search(text, max(name - 250, 0), name) is not None
