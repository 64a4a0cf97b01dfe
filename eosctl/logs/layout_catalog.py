"""The layouts of log records: what the header line of each looks like, the most specific ones first."""

from __future__ import annotations

from typing import Final, NamedTuple

_ZONE = r"(?: ?(?:Z|[+-]\d\d:?\d\d)| (?:UTC|GMT|WES?T|CES?T|EES?T|MSK|[JK]ST|[EMP][SD]T|CDT)\b)?"
_DATE = rf"\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?{_ZONE}"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
# Other languages' months and halves of the day, as bytes: "Dez." and "VORM.", "févr.", "11月" and "午前".
_ANY_MONTH = r"(?:\d{1,2}\xe6\x9c\x88|[A-Za-z\x80-\xff]{3,8}\.?)"
_HALF = r"[A-Za-z\x80-\xff.]{2,9}"
_HOUR = rf"\d{{1,2}}:\d\d:\d\d(?:[.,]\d{{1,9}})?(?: [AaPp][Mm])?{_ZONE}"
_OTHER_DATE = (
    rf"\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{4}},?[ T]{_HOUR}"
    rf"|\d{{1,2}}[ /-]{_MONTH}[ /-]\d{{4}}[ :,T]{{1,2}}{_HOUR}"
    rf"|{_MONTH} \d{{1,2}}, \d{{4}},?(?: @)? {_HOUR}"
    rf"|(?:[A-Z][a-z]{{2}} )?{_MONTH} [ \d]\d \d\d:\d\d:\d\d(?: [A-Z]{{3,4}})? \d{{4}}"
    rf"|\d{{4}}/\d\d/\d\d[T ]{_HOUR}"
    rf"|20\d{{6}}[T -]{_HOUR}"
    rf"|20\d{{6}}[T -]\d{{6}}(?:[.,]\d{{1,9}})?(?:Z\b|\b{_ZONE})"
)
_ANY_DATE = f"(?:{_DATE}|{_OTHER_DATE})"
_LEVEL = r"TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE|trace|debug|info|warn(?:ing)?|error|fatal"
_ANY_LEVEL = rf"{_LEVEL}|ERRO?|WRN|INF|DBG|VRB|FTL|PANIC?|CRIT|EMERG|ALERT"
_SPELLED_LEVEL = "Trace|Verbose|Debug|Info(?:rmation)?|Notice|Warn(?:ing)?|Err(?:or)?|Fatal|Critical"
_THREAD = r"\[(?P<thread>[^\]\n]*)\]"
# Signs that decorate a header: "--- ERROR --- [time]", "=== time".
_MARKS = r"(?:[^\w\s]{1,6} ?|[^\w\n])?"
_REST = r"(?P<message>[^\n]*)"


class Layout(NamedTuple):
    """A header pattern over bytes, with groups ``time``, ``level``, ``thread``, ``logger``, ``host``, and ``message``.

    Attributes:
        name: The layout's name.
        pattern: The form of a header line, without an anchor and without group names that clash with other layouts.
        trailing: Whether the logger (and thread) are in brackets at the end of the line.
    """

    name: str
    pattern: str
    trailing: bool = False


NUMBERED: Final = "numbered-level"
"""The layout of C programs that print syslog's number of a level."""
PRIORITIZED: Final = "syslog-5424"
"""The layout with the number of syslog's facility and level."""
LAYOUTS: Final = (
    Layout(
        "kafka", rf"\[(?P<time>{_DATE})\] (?P<level>{_LEVEL}) +(?:\[(?P<thread>[^\]|\n]+\|[^\]\n]*)\] )?{_REST}", True
    ),
    Layout("python-bracket", rf"\[(?P<time>{_DATE})\] \[(?P<level>{_LEVEL})\] (?P<logger>[\w.$-]+)(?: -|:) {_REST}"),
    Layout("rdkafka", rf"%(?P<level>[0-7])\|(?P<time>\d+\.\d+)\|(?P<facility>\w+)\|(?P<client>[^|\n]*)\|:? {_REST}"),
    Layout("librdkafka-program", r"% (?P<message>(?:ERROR|Failed|Error|Message|Delivery)\b[^\n]*)"),
    Layout(
        "spring-boot",
        rf"(?P<time>{_DATE}) +(?P<level>{_LEVEL}) +(?:\[[^\]\n]*\] )?(?:\S+ )?--- "
        rf"(?:\[(?P<application>[^\]\n]*)\] )?{_THREAD} (?:\[[^\]\n]*\] )?(?P<logger>\S+) *: {_REST}",
    ),
    Layout("flink", rf"(?P<time>{_DATE}) (?P<level>{_LEVEL}) +(?P<logger>[\w.$]+)(?::\d+)? +\[[^\]\n]*\] - {_REST}"),
    Layout(
        "logback-level-thread",
        rf"(?P<time>{_DATE}) (?P<level>{_LEVEL}) +{_THREAD} (?P<logger>[\w.$-]+)(?::\d+)? +--?-?>? {_REST}",
    ),
    Layout("thread-class", rf"(?P<time>{_DATE}) (?P<level>{_LEVEL}) +{_THREAD} (?P<logger>[\w.$-]+) ?: {_REST}"),
    Layout(
        "logback",
        rf"(?P<time>{_DATE}) {_THREAD} (?P<level>{_LEVEL}) +(?P<logger>[\w.$-]+)(?::\d+)?(?: \([^)\n]*\))? "
        rf"(?:--?-?>?|:) {_REST}",
    ),
    Layout(
        "thread-first", rf"(?P<time>{_DATE}) (?P<level>{_LEVEL}) +{_THREAD} (?P<logger>[\w.$-]+) \([^)\n]*\) - {_REST}"
    ),
    Layout("logback-clock", rf"(?P<time>{_CLOCK}) {_THREAD} (?P<level>{_LEVEL}) +(?P<logger>[\w.$-]+) --?-?>? {_REST}"),
    Layout("log4j2-short", rf"(?P<time>{_CLOCK}) (?P<level>{_LEVEL}) +{_THREAD} (?P<logger>[\w.$-]+) - {_REST}"),
    Layout(
        "clock-logger",
        rf"(?P<time>{_CLOCK}) (?P<level>{_LEVEL}) +(?P<logger>[\w.$-]+) ?(?:{_THREAD} )?(?:--?-?>?|:) {_REST}",
    ),
    Layout(
        "jboss", rf"(?P<time>{_CLOCK}) (?P<level>{_LEVEL}) +\[(?P<logger>[\w.$]+)\] \((?P<thread>[^\n]*?)\) {_REST}"
    ),
    Layout(
        "strimzi",
        rf"(?P<time>{_DATE}) (?P<level>{_LEVEL}) +(?P<message>[^\n]*\([\w.$]+(?::\d+)?\) \[[^\]\n]*\]\r?$)",
        True,
    ),
    Layout(
        "kafka-plain",
        rf"(?P<time>{_DATE}) (?P<level>{_LEVEL}) +(?P<message>[^\n]*\([\w$]+(?:\.[\w$]+)+(?::\d+)?\)\r?$)",
        True,
    ),
    Layout(
        "bracket-level", rf"\[(?P<level>{_LEVEL}) *\] (?P<time>{_DATE}) {_THREAD} (?P<logger>\S+) (?:\S+ - )?{_REST}"
    ),
    Layout(
        "bracketed",
        rf"\[?(?P<time>{_DATE})\]? \[ *(?P<level>{_LEVEL}) *\] {_THREAD} \[(?P<logger>[\w.$]+) *\]:? (?:- )?{_REST}",
    ),
    Layout(
        "elastic",
        rf"\[(?P<time>{_DATE})\]\[(?P<level>{_LEVEL}) *\]\[(?P<logger>[\w.$/-]+) *\] ?"
        # Logstash's pipeline, or Elasticsearch's node.
        rf"(?:\[(?P<thread>[^\]\s=]*)\] ?)?(?:\[[^\]\s=]*\] ?){{0,3}}{_REST}",
    ),
    Layout(
        "pipes",
        rf"(?P<time>{_DATE}) *\| *(?P<level>{_LEVEL}) *\| *(?P<thread>[^|\n]*?) *\| *(?P<logger>[\w.$]+) *\| *{_REST}",
    ),
    Layout("python", rf"(?P<time>{_DATE}) - (?P<logger>[\w.-]+) - (?P<level>{_LEVEL}) - {_REST}"),
    Layout("dropwizard", rf"(?P<level>{_LEVEL}) +\[(?P<time>{_DATE})\] (?P<logger>[\w.$-]+): {_REST}"),
    Layout("python-level-first", rf"(?P<level>{_LEVEL}):(?P<logger>[\w.]+):(?P<time>{_DATE}):? {_REST}"),
    Layout("python-plain", rf"(?P<level>{_LEVEL}):(?P<logger>[\w.]+):{_REST}"),
    Layout("short", rf"(?P<time>\d\d/\d\d/\d\d \d\d:\d\d:\d\d) (?P<level>{_LEVEL}) (?P<logger>[\w.$]+): {_REST}"),
    Layout(
        "redpanda", rf"(?P<level>{_LEVEL}) +(?P<time>{_DATE}) \[(?P<thread>shard[^\]\n]*)\] (?P<logger>\S+) - {_REST}"
    ),
    Layout("gc-unified", rf"\[(?P<time>{_DATE})\](?:\[[^\]\n]*\])+ {_REST}"),
    Layout("json", r"(?P<json>\{[ \t]*\"[^\n]*\})"),
    Layout("logfmt", r"(?P<pairs>(?:[\w.@-]+=(?:\"(?:[^\"\\\n]|\\.)*\"|[^\s\"]*) +){1,20}(?:msg|message)=[^\n]*)"),
    Layout("slog", rf"time=\"?(?P<time>{_DATE})\"? level=(?P<level>{_LEVEL}) {_REST}"),
    Layout("klog", rf"(?P<level>[IWEF])(?P<time>\d{{4}}(?:\d{{4}})? {_CLOCK}) +\d+ (?P<logger>[^\]\s]+)\] {_REST}"),
    Layout(
        "go",
        rf"(?:\[(?P<logger>[\w.-]+)\] ?)?(?P<time>\d{{4}}/\d\d/\d\d {_CLOCK}) (?:\[?(?P<level>{_LEVEL})\]? )?{_REST}",
    ),
    Layout("telegraf", rf"(?P<time>{_DATE}) (?P<level>[DIWE])! (?:\[(?P<logger>[\w.:-]+)\] )?{_REST}"),
    Layout(
        "month-level",
        rf"(?P<time>[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{{1,9}})?) +(?P<level>{_LEVEL}) +{_REST}",
    ),
    Layout(
        "syslog",
        rf"(?P<time>[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d) (?P<host>\S+) (?P<logger>[^\s:\[]+)(?:\[\d+\])?: {_REST}",
    ),
    Layout(
        # A name with a digit, dot, or hyphen is a machine's, and not a level.
        "syslog-iso",
        rf"(?P<time>\d{{4}}-\d\d-\d\dT{_CLOCK}(?:Z|[+-]\d\d:?\d\d)) (?P<host>[A-Za-z]*[\d.-][\w.-]*) "
        rf"(?P<logger>[\w./@()-]+)(?:\[\d+\])?: {_REST}",
    ),
    Layout(
        PRIORITIZED,
        rf"<(?P<level>\d{{1,3}})>1 (?P<time>{_DATE}) (?:-|(?P<host>\S+)) (?P<logger>\S+) \S+ \S+ "
        rf"(?:-|\[[^\n]*?\]) ?{_REST}",
    ),
    Layout(
        "jul",
        rf"(?P<time>{_ANY_MONTH} \d{{1,2}}, \d{{4}},? \d{{1,2}}:\d\d:\d\d[ \xe2\x80\xaf]{{1,3}}{_HALF}) "
        r"(?P<logger>[\w.$]+)(?: [\w$<>]+)?(?P<message>\r?$)",
    ),
    Layout(
        "ruby",
        rf"[DIWEFA], \[(?P<time>{_DATE})(?: #\d+)?\] +(?P<level>{_LEVEL}|UNKNOWN) -- (?P<logger>[^:\n]*): {_REST}",
    ),
    Layout(
        "monolog",
        rf"\[(?P<time>{_DATE})\] (?P<logger>[\w-]{{1,60}})\.(?P<level>{_LEVEL}|ALERT|EMERGENCY): {_REST}",
    ),
    Layout(
        NUMBERED,
        rf"\[(?P<time>(?:\d{{4}}-)?\d\d-\d\d[ T]{_CLOCK})\] ?<(?P<level>[0-7])> ?{_REST}",
    ),
    Layout(
        "nest",
        # Before release 8, it had no level.
        rf"\[Nest\] \d+ +- (?P<time>{_ANY_DATE}) +(?:(?P<level>LOG|VERBOSE|{_LEVEL}) +)?"
        rf"(?:\[(?P<logger>[^\]\n]*)\] )?{_REST}",
    ),
    Layout(
        # Erlang's lager, with the first letter of the level.
        "lager-clock",
        rf"\[(?P<time>{_CLOCK})(?P<level>[DINWECAM])\|[^|\n]{{0,80}}\|(?P<thread><[\d.]+>)\] {_REST}",
    ),
    Layout(
        "clickhouse",
        r"(?P<time>\d{4}\.\d\d\.\d\d \d\d:\d\d:\d\d\.\d{1,9}) \[ (?P<thread>\d+) \] \{[^}\n]*\} "
        rf"<(?P<level>Fatal|Critical|Error|Warning|Notice|Information|Debug|Trace|Test)> {_REST}",
    ),
    Layout(
        # TiDB, TiCDC, and TiKV.
        "pingcap",
        rf"\[(?P<time>\d{{4}}/\d\d/\d\d {_CLOCK}{_ZONE})\] \[(?P<level>{_LEVEL})\] \[(?P<logger>[\w.-]+)(?::\d+)?\] "
        rf"{_REST}",
    ),
    Layout(
        "dotnet",
        rf"(?:(?P<time>{_ANY_DATE}|{_CLOCK}) ?)?(?P<level>trce|dbug|info|warn|fail|crit): (?P<logger>[\w.`+]+)\[\d+\]"
        rf" ?{_REST}",
    ),
    Layout(
        # The scripts in the images of Bitnami.
        "bitnami",
        rf"(?P<logger>[a-z][a-z0-9-]{{1,40}}) (?P<time>\d\d:\d\d:\d\d\.\d\d) (?:(?P<level>{_LEVEL}) +==>)?{_REST}",
    ),
    Layout("slf4j-simple", rf"{_THREAD} (?P<level>{_LEVEL}) (?P<logger>[\w.$]+) --? {_REST}"),
    Layout(
        "open-producers",
        r"(?P<message>(?P<producer_id>\d+)[ \t]+(?P<producer_epoch>\d+)[ \t]+-?\d+[ \t]+-?\d+[ \t]+"
        r"(?P<time>\d{12,13})[ \t]+"
        r"(?P<start_offset>None|\d+)[ \t]*\r?$)",
    ),
    Layout(
        "find-hanging",
        r"(?P<message>[\w.-]{1,249}[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+-?\d+[ \t]+\d+[ \t]+(?P<time>\d{12,13})[ \t]+\d+"
        r"[ \t]*\r?$)",
    ),
    Layout(
        "describe-transaction",
        r"(?P<message>\d+[ \t]+[^\s]+[ \t]+\d+[ \t]+-?\d+[ \t]+[A-Z][A-Za-z]+[ \t]+\d+[ \t]+"
        r"(?P<time>\d{12,13})[ \t]+\d+[ \t]+[\w.,-]+[ \t]*\r?$)",
    ),
    Layout(
        "describe-topic",
        r"[ \t]*(?P<message>Topic: [\w.-]{1,249}[ \t]+Partition: \d+[ \t]+Leader: (?:none|-?\d+)[ \t]+Replicas: "
        r"[^\n]*)",
    ),
    Layout("jvm-uncaught", r"(?P<message>Exception in thread \"[^\n]*|Exception: java\.lang\.OutOfMemoryError[^\n]*)"),
    Layout(
        # Levels as .NET and Boost spell them: general patterns do not, because prose has these words, too.
        "level-in-brackets",
        rf"\[?(?P<time>{_ANY_DATE}|{_CLOCK})\]?[ \t]*[\[<|(] *(?P<level>{_SPELLED_LEVEL}) *[\]>|)] ?{_REST}",
    ),
    Layout(
        "dated",
        rf"{_MARKS}(?P<time>{_ANY_DATE})[^\w\n]{{1,3}}"
        rf"(?:[^\n]{{0,120}}?\b(?P<level>{_ANY_LEVEL})\b[^\w\n\[({{]{{0,3}})?{_REST}",
    ),
    Layout(
        "levelled",
        rf"{_MARKS}(?P<level>{_LEVEL})\b[^\d\n]{{1,60}}?(?P<time>{_ANY_DATE})[^\w\n]{{1,3}}{_REST}",
    ),
    Layout(
        "undated",
        rf"\[?(?P<time>\d{{13}}|\d{{10}}[.,]\d{{3,9}}|(?:\d\d[/-]\d\d[ T])?{_CLOCK}|\d{{1,2}}:\d\d[AP]M)[^\w\n]{{1,3}}"
        rf"[^\n]{{0,120}}?\b(?P<level>{_ANY_LEVEL})\b[^\w\n\[({{]{{0,3}}{_REST}",
    ),
    Layout("level-alone", rf"\[(?P<level>{_LEVEL})\] +{_REST}"),
    Layout("dated-above", rf"[^\w\n]?(?P<time>{_ANY_DATE})(?P<message>[^\w\n]?\r?$)"),
)
"""The most specific layouts first: if two match a line, the earlier one counts."""
