"""Where secrets stand in text: each position writes one as programs write it there, with the escapes it needs."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from html import escape
from textwrap import wrap
from typing import Final

from hypothesis import strategies as st

CANARY: Final = "CANARY"
Position = Callable[[str], str]


def _quoted(text: str, quote: str) -> str:
    return quote + text.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote


def pem(text: str, line_end: str) -> str:
    """Return a PEM block whose body is full of canaries."""
    body = line_end.join(wrap(CANARY + b64encode(text.encode() * 4).decode() + CANARY, 64))
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----{line_end}{body}{line_end}-----END ENCRYPTED PRIVATE KEY-----"


#: May hold blanks, quotes, backslashes: what stands around it says where it ends.
BOUNDED: Final[dict[str, Position]] = {
    "json": lambda text: json.dumps({"x": 1, "ssl.key.password": text, "y": [2]}),
    "json-in-json": lambda text: json.dumps({"message": f"got {json.dumps({'clientSecret': text, 'y': 2})}", "z": 1}),
    "json-in-json-in-json": lambda text: json.dumps({"a": json.dumps({"b": json.dumps({"token": text})})}),
    "double-quotes": lambda text: f"login failed with password={_quoted(text, chr(34))} (a.b.C)",
    "single-quotes": lambda text: f"login failed with password: {_quoted(text, chr(39))}, retrying",
    "python": lambda text: f"Config(user='me', sasl_plain_password={text!r}, x=1)",
    "python-bytes": lambda text: f"Config(user='me', api_key={text.encode()!r}, x=1)",
    "jaas": lambda text: f'sasl.jaas.config = Login required username="me" password={_quoted(text, chr(34))};',
    "jaas-in-json": lambda text: json.dumps({"sasl.jaas.config": f"L required password={_quoted(text, chr(34))};"}),
    "setting": lambda text: f"\tssl.truststore.password = {text}",
    "setting-in-a-message": lambda text: f"[Producer clientId=a] ssl.key.password = {text}",
    "environment": lambda text: f"export KAFKA_SSL_KEY_PASSWORD={text}",
    "sql": lambda text: f"CREATE USER a WITH PASSWORD '{text.replace(chr(39), chr(39) * 2)}'",
    "identified-by": lambda text: f"ALTER USER a IDENTIFIED BY '{text.replace(chr(39), chr(39) * 2)}'",
    "sentence": lambda text: f"the password is {_quoted(text, chr(39))} now",
    "short-name-in-quotes": lambda text: f"export DB_PASS={_quoted(text, chr(34))}",
    "no-break-spaces": lambda text: f"refused: password\u00a0=\u00a0{_quoted(text, chr(34))}",
    "invisible-in-the-name": lambda text: f"refused: pass\u200bwo\u2060rd={_quoted(text, chr(34))}",
    "yaml-tag": lambda text: f"refused: password: !!str {_quoted(text, chr(39))}",
    "yaml-block": lambda text: f"db:\n  password: |-\n    {text}\n    {text}\n  user: me",
    "yaml-block-in-a-message": lambda text: f"Exiting: secret: >\n  {text}\nbehind",
    "continuation": lambda text: f"Exiting: password=\\\n   {text}",
    "continuation-with-blanks": lambda text: f"Exiting: password = first \\\n   {text}",
    "curl": lambda text: f"curl -u 'admin:{text.replace(chr(39), '_')}' http://h/",
    "element": lambda text: f"<a><keyPassword>{escape(text)}</keyPassword><b/></a>",
    "property-element": lambda text: f"<name>ssl.key.password</name> <value>{escape(text)}</value>",
    "list": lambda text: f"tokens: {json.dumps(['a', text, 'b'])} were refused",
    "in-a-bare-value": lambda text: f"secret: password={_quoted(text, chr(34))} x",
    "pem": lambda text: f"bad ssl.keystore.key = {pem(text, ' ')} (a.B)",
    "pem-in-lines": lambda text: f"bad key\n{pem(text, chr(10))}\nbehind it",
    "pem-in-json": lambda text: json.dumps({"message": f"bad key {pem(text, chr(10))}", "x": 1}),
    "pem-without-begin": lambda text: f"bad key {pem(text, chr(10)).partition('KEY-----')[2]} (a.B)",
    "pem-without-begin-in-json": lambda text: json.dumps({"m": pem(text, chr(10)).partition("KEY-----")[2]}),
    "pem-without-end": lambda text: f"bad key {pem(text, chr(10)).rpartition('-----END')[0]}",
}
#: Without blanks, quotes, and separators.
BARE: Final[dict[str, Position]] = {
    "bare": lambda text: f"login as me with password={text} failed",
    "two-words": lambda text: f"Exiting: password = first second {text} (kafka.server.KafkaServer)",
    "two-words-and-another": lambda text: f"Exiting: password = first {text}, user = me",
    "connection-string": lambda text: f"Server=db;User Id=x;Password=first {text};Encrypt=true",
    "account-key": lambda text: f"AccountName=a;AccountKey={text}==;EndpointSuffix=core",
    "shared-access-key": lambda text: f"SharedAccessKey={text}=",
    "signature": lambda text: f"https://h/c?sv=2026&sig={text}%3D&se=2026",
    "pass": lambda text: f"dbPass={text} pass={text} db.pass: {text}",
    "pw": lambda text: f"credentials={{user=a, pw={text}}}",
    "passwd": lambda text: f"passwd: {text}",
    "sentence-without-quotes": lambda text: f"login with user bob and password {text} failed",
    "short-option": lambda text: f"mysql -uroot -p{text} db",
    "short-option-of-its-own": lambda text: f"redis-cli -h h -a {text} ping",
    "user-option": lambda text: f"curl -s -u admin:{text} http://h/",
    "user-alone": lambda text: f"GET http://{text}@registry:8081/subjects failed",
    "query": lambda text: f"jdbc:postgresql://h/db?user=a&password={text}&ssl=true",
    "map": lambda text: f"{{user=me, password={text}, ssl=true}}",
    "option": lambda text: f"mysql --user me --password {text} --verbose",
    "config-entry": lambda text: f"ConfigEntry(name=ssl.key.password, value={text}, source=DYNAMIC)",
    "bearer": lambda text: (
        "Authorization: Bearer " + "".join(c for c in text if c.isalnum() or c in "+/._~-") + "CANARYxx"
    ),
    "no-user": lambda text: f"redis://:{text}@cache/0 is down",
}
#: Without blanks and quotes.
IN_ADDRESSES: Final[dict[str, Position]] = {
    "url": lambda text: f"connecting to https://me:{text}@registry.example.org:8081/a failed",
    "url-in-json": lambda text: json.dumps({"url": f"https://me:{text}@[::1]:8081/a?b=c", "x": 1}),
    "topics": lambda text: f"kafka://alice:{text}@127.0.0.1:9092/logs",
    "address": lambda text: f"cannot reach alice:{text}@broker-1:9092.",
}
_SPECIAL: Final = "ab1 \"'\\;,&@/:=[]{}()<>#%$+-.~!?|^`é"


def _secrets(left_out: str) -> st.SearchStrategy[str]:
    alphabet = "".join(set(_SPECIAL) - set(left_out))
    return st.text(alphabet, max_size=12).map(lambda inner: f"{CANARY}{inner}{CANARY}")


def planted() -> st.SearchStrategy[tuple[str, str]]:
    """Generate the name of a position and a text with a secret there."""

    def at(positions: dict[str, Position], left_out: str) -> st.SearchStrategy[tuple[str, str]]:
        return st.tuples(st.sampled_from(sorted(positions)), _secrets(left_out)).map(
            lambda chosen: (chosen[0], positions[chosen[0]](chosen[1]))
        )

    return st.one_of(at(BOUNDED, ""), at(BARE, " \"'\\;,&@/:=[]{}()<>#?"), at(IN_ADDRESSES, " \"'<>,;\\"))
