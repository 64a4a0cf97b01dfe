"""Where secrets stand in text: each position writes one as programs write it there, with the escapes it needs."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from html import escape
from textwrap import wrap
from typing import Final
from urllib.parse import quote

from hypothesis import strategies as st

CANARY: Final = "CANARY"
Position = Callable[[str], str]


def _quoted(text: str, mark: str) -> str:
    return mark + text.replace("\\", "\\\\").replace(mark, f"\\{mark}") + mark


def _percent(text: str) -> str:
    return quote(text, safe="")


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _doubled(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _sql(text: str) -> str:
    return "'" + text.replace("\\", "/").replace("'", "''") + "'"


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
    "user-of-plain": lambda text: f"KafkaServer {{ x.PlainLoginModule required user_me={_quoted(text, chr(34))}; }};",
    "user-of-plain-alone": lambda text: f"  user_me={_quoted(text, chr(34))}",
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
    "cdata": lambda text: f"<password><![CDATA[{text}]]></password>",
    "typed-element": lambda text: f"<wsse:Password Type='x'>{escape(text)}</wsse:Password>",
    "bean-property": lambda text: f'<property name="password">{escape(text)}</property>',
    "entry": lambda text: f'<entry key="ssl.key.password">{escape(text)}</entry>',
    "value-first": lambda text: json.dumps({"value": text.replace('"', "'").replace("\\", "/"), "name": "db.password"}),
    "value-behind-a-field": lambda text: json.dumps(
        {"name": "ssl.key.password", "type": "password, optional", "configValue": text}
    ),
    "value-right-behind": lambda text: json.dumps({"key": "ssl.key.password", "val": text}, separators=(",", ":")),
    "value-before-a-field": lambda text: json.dumps(
        {"value": text.replace('"', "'").replace("\\", "/"), "secure": True, "configName": "db.password"}
    ),
    "column": lambda text: f"user,password,role\nme,{_doubled(text)},admin",
    "last-column": lambda text: f"user;password\nme;{_doubled(text)}\nyou;{_doubled(text)}",
    "column-of-values": lambda text: f"name,type,value\nssl.key.password,STRING,{_doubled(text)}",
    "column-between-tabs": lambda text: f"User\tClient Secret\nme\t{_doubled(text)}",
    "column-of-markdown": lambda text: f"| user | password | role |\n|---|---|---|\n| me | {_cell(text)} | admin |",
    "environment-of-a-pod": lambda text: f"env:\n- name: DB_PASSWORD\n  value: {_quoted(text, chr(34))}",
    "yaml-list": lambda text: f"tokens:\n  - {_quoted(text, chr(34))}\nuser: me",
    "yaml-next-line": lambda text: f"password:\n    {_quoted(text, chr(34))}\nuser: me",
    "escaped-html": lambda text: f"&quot;password&quot;:&quot;{_percent(text)}&quot;, x",
    "escaped-element": lambda text: f"&lt;password&gt;{_percent(text).replace('%', '')}&lt;/password&gt; x",
    "gson": lambda text: f"url?password\\u003d{_percent(text)}\\u0026ssl\\u003dtrue",
    "in-a-url": lambda text: f"url=http%3A%2F%2Fh%2F%3Fpassword%3D{_percent(text)}%26ssl%3Dtrue",
    "quoted-in-a-url": lambda text: f"%7B%22clientSecret%22%3A%22{_percent(text)}%22%7D",
    "index": lambda text: f"config['password'] = {_quoted(text, chr(39))}",
    "call": lambda text: f"new Password({_quoted(text, chr(34))}) refused",
    "short-option-in-quotes": lambda text: f"mysql -uroot -p'{text.replace(chr(39), '_')}' db",
    "prompt": lambda text: f"Password for user bob: {_quoted(text, chr(34))}",
    "header": lambda text: f"Authorization: ApiKey {_percent(text)}",
    "digest": lambda text: f'Authorization: Digest username="me", response="{_percent(text)}"',
    "cookie": lambda text: f"Cookie: a=b; session={_percent(text)}",
    "list": lambda text: f"tokens: {json.dumps(['a', text, 'b'])} were refused",
    "in-a-bare-value": lambda text: f"secret: password={_quoted(text, chr(34))} x",
    "argument": lambda text: f'config.put("ssl.key.password", {_quoted(text, chr(34))}); // (a.B)',
    "tuple": lambda text: f"[('sasl.password', {_quoted(text, chr(39))}), ('acks', '1')]",
    "csv": lambda text: f'"password","{text.replace(chr(34), chr(34) * 2)}","x"',
    "cell": lambda text: f"| user | me | password | {_cell(text)} | x |",
    "cell-without-blanks": lambda text: f"password|{_cell(text)}|",
    "cell-of-code": lambda text: f"| `ssl.key.password` | `{_cell(text)}` |",
    "prompt-with-is": lambda text: f"Password for user bob is {_quoted(text, chr(34))}",
    "full-width": lambda text: f"refused: パスワード：{_quoted(text, chr(34))}",
    "pem": lambda text: f"bad ssl.keystore.key = {pem(text, ' ')} (a.B)",
    "pem-in-lines": lambda text: f"bad key\n{pem(text, chr(10))}\nbehind it",
    "pem-in-json": lambda text: json.dumps({"message": f"bad key {pem(text, chr(10))}", "x": 1}),
    "pem-without-begin": lambda text: f"bad key {pem(text, chr(10)).partition('KEY-----')[2]} (a.B)",
    "pem-without-begin-in-json": lambda text: json.dumps({"m": pem(text, chr(10)).partition("KEY-----")[2]}),
    "heredoc": lambda text: f"db_password = <<EOT\nfirst\n{text}\nEOT\nx = 1",
    "indented-heredoc": lambda text: f'  ssl_key_password = <<-"EOF"\n    {text}\n    EOF\n',
    "heredoc-of-a-shell": lambda text: f"PASSWORD=$(cat <<'EOF'\n{text}\nEOF\n)",
    "toml-lines": lambda text: 'password = """\nfirst\n' + text.replace('"', "'") + '"""',
    "toml-literal": lambda text: "password = '''" + text.replace("'", "_") + "'''",
    "yaml-quoted-lines": lambda text: f"db:\n  password: {_quoted(f'first{chr(10)}    {text}', chr(34))}\n  user: me",
    "yaml-complex-key": lambda text: f"? password\n: {_quoted(text, chr(34))}",
    "kubernetes": lambda text: (
        f"kind: Secret\nmetadata:\n  name: x\ndata:\n  foo: {text}\n  bar.yaml: {text}\ntype: Opaque"
    ),
    "kubernetes-data-first": lambda text: f"apiVersion: v1\ndata:\n  foo: {text}\nkind: Secret",
    "kubernetes-block": lambda text: f"kind: Secret\nstringData:\n  foo: |-\n    line\n    {text}\n",
    "kubernetes-json": lambda text: json.dumps({"apiVersion": "v1", "data": {"foo": text}, "kind": "Secret"}),
    "kubernetes-json-in-lines": lambda text: json.dumps({"kind": "Secret", "data": {"foo": text}}, indent=1),
    "kubernetes-applied": lambda text: "x: |\n  " + json.dumps({"kind": "Secret", "stringData": {"foo": text}}),
    "kubernetes-go": lambda text: (
        "&Secret{ObjectMeta:{x},Data:map[string][]byte{foo: " + text.translate({123: "(", 125: ")"}) + ",},Type:Opaque}"
    ),
    "html-row": lambda text: f'<tr><th>Password</th><td class="v">{escape(text)}</td></tr>',
    "html-code": lambda text: f"<tr><td><code>ssl.key.password</code></td><td><code>{escape(text)}</code></td></tr>",
    "html-table": lambda text: (
        f"<table>\n<tr><th>user</th><th>password</th></tr>\n<tr><td>me</td><td>{_cell(escape(text))}</td></tr>\n</table>"
    ),
    "html-input": lambda text: f'<input value="{escape(text)}" type="password">',
    "html-label": lambda text: f"<li><b>password</b>: {_quoted(escape(text, quote=False), chr(34))}</li>",
    "insert": lambda text: f"INSERT INTO users (name, password) VALUES ('me', {_sql(text)}), ('you', {_sql(text)})",
    "columns-in-json": lambda text: json.dumps(
        {"columns": ["user", "password"], "rows": [["me", text], ["you", text]]}
    ),
    "form-data": lambda text: f'Content-Disposition: form-data; name="password"\n\n{text}\n--x--',
    "appended": lambda text: f'password = "first" {_quoted(text, chr(34))}',
    "old-and-new": lambda text: f"Updated setting ssl.key.password: 'old' -> {_quoted(text, chr(39))}",
    "invalid-value": lambda text: f"ConfigException: Invalid value {text} for configuration ssl.key.password",
    "escaped-name": lambda text: f"ssl.key.p\\u0061ssword={text}",
    "escaped-name-in-json": lambda text: json.dumps({"x": text}).replace('"x"', '"p\\u0061ssword"'),
    "escaped-foreign-name": lambda text: json.dumps({"message": f"passwort, 密码: {_quoted(text, chr(34))}"}),
    "columns-in-a-message": lambda text: json.dumps({"message": f"user,password\nme,{_doubled(text)}\n"}),
    "var-dump": lambda text: f'["password"]=>\n  string(8) {_quoted(text, chr(34))}\n',
    "pem-without-end": lambda text: f"bad key {pem(text, chr(10)).rpartition('-----END')[0]}",
}
#: Tokens that are known by their shape; each holds the canary or, where the alphabet is fixed, is one.
TOKENS: Final = (
    f"AKIA{CANARY}7EXAMPLE42", f"ghp_{CANARY}{'a1B' * 10}", f"github_pat_{CANARY}{'a1B' * 6}_{'a1B' * 20}",
    f"glpat-{CANARY}{'-1' * 10}", f"xoxb-12-{CANARY}-12", f"sk_live_{CANARY}{'a1B' * 6}", f"sk-proj-{CANARY}{'1' * 32}",
    f"AIza{CANARY}{'1' * 29}",
    f"ya29.{CANARY}{'1' * 20}", f"npm_{CANARY}{'a1B' * 10}", f"pypi-{CANARY}{'1' * 32}", f"hvs.{CANARY}{'1' * 24}",
    f"SG.{CANARY}{'1' * 16}.{CANARY}{'1' * 16}", f"dckr_pat_{CANARY}{'1' * 20}",
    f"hooks.slack.com/services/T0/B0/{CANARY}{'a' * 18}", f"hooks.slack.com/workflows/T0/B0/{CANARY}{'a' * 18}",
    f"discord.com/api/webhooks/12345/{CANARY}{'a' * 12}", f"x.webhook.office.com/webhookb2/{CANARY}@{'a' * 18}/b",
    f"events.pagerduty.com/integration/{CANARY}{'a' * 12}/enqueue", f"123456789:AA{CANARY}{'a' * 28}",
    f"api.telegram.org/bot123456789:AA{CANARY}{'a' * 28}/x", f"glrt-{CANARY}{'1' * 14}", f"xapp-1-{CANARY}{'A' * 9}",
    f"whsec_{CANARY}{'1' * 16}", f"GOCSPX-{CANARY}{'1' * 22}", f"hf_{CANARY}{'a1B' * 9}",
    f"dop_v1_{CANARY}{'a1B' * 19}",
    f"NRAK-{CANARY}{'1' * 21}", f"hvb.{CANARY}{'1' * 24}", f"s.{CANARY}{'1' * 18}", f"abc8Q~{CANARY}{'1' * 28}",
    f"AGE-SECRET-KEY-1{CANARY}{'1' * 52}", f"dp.pt.{CANARY}{'1' * 37}", f"shpat_{CANARY}{'1' * 26}",
    f"lin_api_{CANARY}{'a1B' * 11}", f"glsa_{CANARY}{'1' * 26}_ab", f"glc_{CANARY}{'1' * 54}",
    f"dapi{CANARY}{'1' * 26}",
    f"pscale_pw_{CANARY}{'1' * 37}", f"key-{CANARY}{'1' * 26}", f"sq0csp-{CANARY}{'1' * 37}",
    f"v4.local.{CANARY}{'1' * 74}", f"abcdefghijklmn.atlasv1.{CANARY}{'1' * 61}", f"pul-{CANARY}{'1' * 34}",
    f"sntrys_{CANARY}{'1' * 74}", f"rubygems_{CANARY}{'a1B' * 14}", f"AKCp{CANARY}{'1' * 63}",
    f"cmVmdGtu{CANARY}{'1' * 50}", f"ATATT3x{CANARY}{'1' * 180}", f"figd_{CANARY}{'a1B' * 11}",
    f"cflt{CANARY}{'1' * 54}",
    f"secret_{CANARY}{'a1B' * 12}", f"{{AQAAABAAAAAQ{CANARY}{'1' * 32}=}}",
    f"CLIENT_RANDOM {'0' * 64} {CANARY}{'0' * 90}",
    f"LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t{CANARY}", f"/u3+7QAAAAIAAAAB{CANARY}", f"MIIJ{CANARY}{'1' * 94}",
    f"$6$salt$salt{CANARY}{'1' * 80}", f"$5$rounds=5000$salt${CANARY}{'1' * 37}", f"bob:$apr1$salt${CANARY}{'1' * 16}",
    f"$2b$12${CANARY}{'1' * 47}", f"$y$j9T$salt${CANARY}{'1' * 37}",
    f"$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ${CANARY}{'1' * 37}", f"$scrypt$ln=16,r=8,p=1$ab${CANARY}{'1' * 37}",
    f"pbkdf2_sha256$260000$salt${CANARY}{'1' * 37}=", f"{{SSHA}}{CANARY}{'1' * 32}==",
    f"{{CRYPT}}$6$salt${CANARY}{'1' * 9}",
    f"c=biws,r=abc,p={CANARY}{'1' * 8}", f"STRIPE_KEY={CANARY}x1x1x1", f"psk={CANARY}x1x1x1",
    f"session_id={CANARY}x1x1x1",
    f'{{"auths":{{"reg":{{"auth":"{CANARY}x1x1x1="}}}}}}',
    f"AVNS_{CANARY}{'a' * 18}", f"xoxc-12-{CANARY}-12", f"dckr_oat_{CANARY}{'1' * 26}", f"glagent-{CANARY}{'1' * 44}",
    f"GR1348941{CANARY}{'1' * 14}", f"1//0{CANARY}{'1' * 94}", f"dp.sa.{CANARY}{'1' * 37}",
    f"eyJrIjoi{CANARY}{'1' * 66}",
    f"SCRAM-SHA-256$4096:c2FsdHNhbHQ=${CANARY}{'1' * 37}=:{'1' * 43}=", f"EAAC{CANARY}{'1' * 154}",
    f"EZAK{CANARY}{'1' * 48}", f"LTAI{CANARY}{'1' * 14}", f"SU{CANARY}{'A' * 50}", f"GenieKey {CANARY}{'1' * 20}",
    f"ver:1-hint:1234-{CANARY}{'1' * 60}", f"abc.Gabcde.{CANARY}{'1' * 32}", f"mm.example.com/hooks/{CANARY}{'1' * 20}",
    f"hooks.zapier.com/hooks/catch/1234567/{CANARY}", f"hc-ping.com/{CANARY}{'1' * 30}",
    f"collectors.sumologic.com/receiver/v1/http/{CANARY}{'1' * 82}", f"BQIAAABH{CANARY}{'A' * 60}",
    f'{{"kty":"oct","k":"{CANARY}{"1" * 37}"}}', f'{{"kty":"EC","crv":"P-256","d":"{CANARY}{"1" * 37}"}}',
    f"{CANARY}{'a+/1' * 20}==", f"eyJhbGciOiJ.{CANARY}.{CANARY}",
)  # fmt: skip
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
    "in-brackets": lambda text: f"password ({text}9x) of Password[{text}9x] was set",
    "invalid": lambda text: f"Invalid password {text}9x",
    "map-of-some": lambda text: f"passwords {{a={text}, b=c}}",
    "easy-connect": lambda text: f"connecting to scott/{text}@//h:1521/x",
    "pw": lambda text: f"credentials={{user=a, pw={text}}}",
    "passwd": lambda text: f"passwd: {text}",
    "sentence-without-quotes": lambda text: f"login with user bob and password {text} failed",
    "short-option": lambda text: f"mysql -uroot -p{text} db",
    "short-option-of-any-program": lambda text: f"run.sh -u me -p {text}9x --verbose",
    "short-option-of-its-own": lambda text: f"redis-cli -h h -a {text} ping",
    "option-of-openssl": lambda text: f"openssl enc -aes-256-cbc -in x -k {text}",
    "option-of-bcp": lambda text: f"bcp db.t out f -U sa -P{text} -c",
    "option-of-smbclient": lambda text: f"smbclient //h/s -U dom/me%{text} -c ls",
    "argument-of-sqlplus": lambda text: f"sqlplus -s scott/{text}@orcl @run.sql",
    "argument-of-sqlplus-alone": lambda text: f"expdp scott/{text} schemas=hr",
    "connect-of-sqlplus": lambda text: f"CONNECT scott/{text}@orcl",
    "argument-of-net-use": lambda text: f"net use x: \\\\h\\s {text} /user:me",
    "piped": lambda text: f"+ echo {text} | kinit me",
    "query-of-influx": lambda text: f"POST http://h:8086/write?db=x&u=me&p={text} failed",
    "pgpass": lambda text: f"db.example.com:5432:orders:me:{text}",
    "user-option": lambda text: f"curl -s -u admin:{text} http://h/",
    "user-alone": lambda text: f"GET http://{text}@registry:8081/subjects failed",
    "query": lambda text: f"jdbc:postgresql://h/db?user=a&password={text}&ssl=true",
    "map": lambda text: f"{{user=me, password={text}, ssl=true}}",
    "option": lambda text: f"mysql --user me --password {text} --verbose",
    "config-entry": lambda text: f"ConfigEntry(name=ssl.key.password, value={text}, source=DYNAMIC)",
    "bearer": lambda text: (
        "Authorization: Bearer " + "".join(c for c in text if c.isalnum() or c in "+/._~-") + "CANARYxx"
    ),
    "value-before-name": lambda text: f"Config(value={text} name=ssl.key.password)",
    "license": lambda text: f"confluent.license={text} license.key={text}",
    "other-languages": lambda text: f"密码={text} пароль: {text}",
    "go": lambda text: f"dsn=me:{text}@tcp(db:3306)/orders",
    "german": lambda text: f"refused: Kennwort={text} PASSWORT: {text}",
    "french": lambda text: f"mot de passe : {text}",
    "spanish": lambda text: f"CONTRASEÑA={text} contrasena={text} contrasen\u0303a={text}",
    "column-of-a-database": lambda text: (
        f" user |  password  | role \n------+------------+------\n me   | {text.replace('|', '-')} | x\n(1 row)"
    ),
    "column-of-a-tool": lambda text: f"USER      PASSWORD   ROLE\nalice     {text}   admin\nbob       {text}  x",
    "column-behind-a-time": lambda text: f"[2026-11-20 10:00:00,000] INFO user,password\nme,{text.replace(',', '-')}",
    "colors": lambda text: f"\x1b[36mpassword\x1b[0m=\x1b[35m{text}\x1b[0m x",
    "last-cell": lambda text: f"| password | {text.replace('|', '-')}",
    "arrow": lambda text: f"password --> {text}",
    "is": lambda text: f"the password is: {text}",
    "appended": lambda text: f"password += {text}",
    "index-of-a-list": lambda text: f"passwords[0]={text}",
    "base64-in-ldif": lambda text: f"userPassword:: {text}",
    "changed": lambda text: f"password has been changed to {text}9x",
    "further-keys": lambda text: f"client-key-data: {text} shared_key={text} passkey={text} pass phrase: {text}",
    "easy-connect-of-a-port": lambda text: f"connect scott/{text}@h:1521/x",
    "map-of-words": lambda text: f"{{user=me, password=two words {text}, x=y}}",
    "list-of-arguments": lambda text: f"args: [--token, {text}]",
    "token-of-kafka": lambda text: f"OAuthBearerToken{{value={text}, lifetime=1}}",
    "set-to": lambda text: f"Setting ssl.keystore.password to {text}",
    "changed-from": lambda text: f"password changed from {text}8x to {text}9x",
    "is-of-a-user": lambda text: f"The password for user bob is: {text}",
    "behind-a-mask": lambda text: f"password=[hidden]{text}",
    "docker-config": lambda text: f".dockerconfigjson: {text} authentication_string={text}",
    "double-arrow": lambda text: f"password ⇒ {text}",
    "double-line": lambda text: f"║ password ║ {text} ║",
    "wide-letters": lambda text: f"ｐａｓｓword={text}",
    "html-spans": lambda text: f'<span class="k">password</span><span class="v">{text}</span>',
    "html-break": lambda text: f"<p>password<br>{text}</p> <td>pass<wbr>word</td><td>{text}</td>",
    "no-user": lambda text: f"redis://:{text}@cache/0 is down",
}
#: As those, where the name starts its line.
OF_LINES: Final[dict[str, Position]] = {
    "prompt-above": lambda text: f"Password:\n{text}\nok",
    "json-above": lambda text: f'"password":\n"{text}",',
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

    return st.one_of(at(BOUNDED, ""), at(BARE | OF_LINES, " \"'\\;,&@/:=[]{}()<>#?"), at(IN_ADDRESSES, " \"'<>,;\\"))
