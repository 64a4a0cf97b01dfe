"""Find passwords among the arguments of programs, where no name stands before them: `sqlplus me/secret`.

A program's own name, or the shape of the argument, decides that it is a password. Each character is read a bounded
number of times: the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_Spans = Iterator[tuple[int, int]]

_ARGUMENT: Final = r"(\"[^\"\n]*\"?|'[^'\n]*'?|[^\s-]\S*)"
# mysql -uroot -psecret, sshpass -p secret
_SHORT_OPTION: Final = re.compile(rf" -[pPaw][ ]{{0,4}}{_ARGUMENT}")
_PROGRAM: Final = re.compile(
    r"\b(?:docker|az|htpasswd|mysql\w*|mariadb\w*|mongo\w*|sshpass|login|redis-cli|sqlcmd|ldap\w*|bcp|isql|tsql|cqlsh|"
    r"beeline|ipmitool|rabbitmqadmin|cypher-shell|7z)\b",
    re.ASCII,
)
_LONGEST_COMMAND: Final = 256
# run.sh -p Hunter2!: letters with digits or signs, and no path, address, setting, or name such as my-project-1.
_PASSWORD_OPTION: Final = re.compile(
    r" -[pP][ ]{1,4}(?:\"(?=[^\"\n]{0,256}\d)[^\"\n]{0,256}[A-Za-z]|'(?=[^'\n]{0,256}\d)[^'\n]{0,256}[A-Za-z]|"
    r"(?![.~@]|[a-z]+\d*(?:[_.-][a-z\d]+)+(?![^\s;,)])|[\w-]+(?:\.[\w-]+)*[:=]|\S{0,256}/|\$(?:\{|[A-Z_]+(?!\S)))"
    r"(?=[^\s\"'(){}\[\]<>,;]{6})(?=\S{0,256}[\d$!%^&*+])\S{0,256}[A-Za-z])",
    re.ASCII,
)
# curl -u user:secret
_USER_OPTION: Final = re.compile(
    r" (?:-[uU]|--(?:proxy-)?user)[ =]{0,4}"
    r"(?:\"[^\s:\"]{0,128}:([^\"\n]+)|'[^\s:']{0,128}:([^'\n]+)|[^\s:\"']{0,128}:(\S+))"
)
# smbclient -U domain/user%secret, lftp -u user,secret
_SAMBA_USER: Final = re.compile(
    r" (?:-U|--user)[ =]{0,4}"
    r"(?:\"[^\s%\"]{1,128}%([^\"\n]+)|'[^\s%']{1,128}%([^'\n]+)|[^\s%\"'+-][^\s%\"']{0,127}%(\S+))"
)
_LFTP_USER: Final = re.compile(r"\blftp\b[^\n;|]{0,128}? -u[ ]{0,4}[\"']?[^\s,\"']{1,128},([^\s\"']+)", re.ASCII)
# openssl enc -k secret, openssl enc -K 00ff
_OPENSSL: Final = re.compile(rf"\bopenssl\b[^\n;|]{{0,256}}? -[kK][ ]{{1,4}}{_ARGUMENT}", re.ASCII)
# sqlplus -s user/secret@database
_ORACLE: Final = re.compile(
    r"\b(?:sqlplus|sqlldr|expdp|impdp|sqlcl|rman)\b[^\n;|@]{0,128}?[ =][\"']?[A-Za-z][\w$#]{0,63}/"
    r"(\"[^\"\n]{1,256}\"|[^\s/@\"']{1,256})(?![^\s@\"'])|"
    r"\b(?:[Cc]onn(?:ect)?|CONN(?:ECT)?)[ ]{1,4}[A-Za-z][\w$#]{0,63}/(\"[^\"\n]{1,256}\"|[^\s/@\"']{1,256})@\w",
    re.ASCII,
)
_ORACLE_HINTS: Final = ("sqlplus", "sqlldr", "expdp", "impdp", "sqlcl", "rman", "conn")
# net use x: \\host\share secret /user:me
_NET_USE: Final = re.compile(r"\bnet use [^\n]{0,200}?\\[^\s/]{1,128} (\"[^\"\n]*\"?|[^\s/*]\S*) [^\n]{0,80}?/user:")
# echo secret | kinit me
_PIPED: Final = re.compile(
    r"\b(?:echo|printf)[ ](?:-\w{1,3}[ ]|[\"']?%s(?:\\\\?n)?[\"']?[ ]){0,2}"
    r"(\"[^\"\n]{1,256}\"|'[^'\n]{1,256}'|[^\s;&]{1,256})[ ]?\|[ ]?(?:\w+=\S{0,64}[ ]){0,2}"
    r"(?:kinit|sudo[ ](?:-\w{1,3}[ ]){0,2}-S|passwd|chpasswd|cryptsetup|gpg|\w[\w ]{0,40}--password-stdin)\b"
)
# u=user&p=secret, as InfluxDB takes them
_IN_QUERY: Final = re.compile(r"(?<![^?&\s\"'])u=[^&\s]{0,128}&p=([^&\s\"']{1,256})", re.ASCII)
# host:5432:database:user:secret, as in .pgpass
_PGPASS: Final = re.compile(
    r"(?<![\w.:*/@-])(?:\*|[A-Za-z][\w.-]{0,255}|\d{1,3}(?:\.\d{1,3}){3}):(?:\*|\d{4,5}):(?:\*|[A-Za-z][\w.$-]{0,63}):"
    r"(?:\*|[A-Za-z][\w.@$-]{0,63}):([^\s:\"',](?:[^\s:\"',]|\\:){0,255})(?![^\s\"',)\]])",
    re.ASCII,
)
_COLONS_OF_PGPASS: Final = 4


def argument_spans(text: str, lower: str) -> _Spans:
    """Yield start and end of each password among the arguments of a program.

    Args:
        text: What to search.
        lower: The same in lower case, of the same length.
    """
    if " -" in text:
        yield from _option_spans(text, lower)
    if "/" in text and any(hint in lower for hint in _ORACLE_HINTS):
        yield from _groups(_ORACLE, text)
    if "|" in text and ("echo " in text or "printf " in text):
        yield from _groups(_PIPED, text)
    if "net use" in text:
        yield from _groups(_NET_USE, text)
    if "&p=" in text:
        yield from _groups(_IN_QUERY, text)
    if text.count(":") >= _COLONS_OF_PGPASS:
        yield from _groups(_PGPASS, text)


def _option_spans(text: str, lower: str) -> _Spans:
    """Yield passwords behind options of a letter, where a program's name or their shape shows what they are."""
    for found in _SHORT_OPTION.finditer(text):
        earliest = max(found.start() - _LONGEST_COMMAND, 0)
        start = max(earliest, text.rfind("\n", earliest, found.start()) + 1)
        if _PROGRAM.search(lower, start, found.start()) or _PASSWORD_OPTION.match(text, found.start()):
            yield found.span(1)
    yield from _groups(_USER_OPTION, text)
    if "%" in text:
        yield from _groups(_SAMBA_USER, text)
    if "lftp" in text:
        yield from _groups(_LFTP_USER, text)
    if "openssl" in text:
        yield from _groups(_OPENSSL, text)


def _groups(pattern: re.Pattern[str], text: str) -> _Spans:
    """Yield what the last group that took part in each match spans."""
    for found in pattern.finditer(text):
        yield found.span(found.lastindex or 0)
