"""``eosctl explain``, and the ``explain`` commands of groups, which explain one kind of thing."""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated, Final, NoReturn

import typer

from eosctl.command_line.invocation import Invocation, standard_input
from eosctl.commands.emit import emit_list
from eosctl.commands.options import LanguageOption, ResultOptions
from eosctl.errors import UsageError
from eosctl.model.reference import ENGLISH, LONGEST_PASTED, EntryKind
from eosctl.render.reference import ENTRY_COLUMNS, EXPLANATION_COLUMNS, render_explanations
from eosctl.services.explain import Explained, all_entries, answer
from eosctl.services.explain_kind import answer_named
from eosctl.services.short_answers import in_language

#: ``-`` is standard input.
_ERROR_CODE: Final = re.compile(r"-\d*")


def explain(
    invocation: Invocation,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="ANYTHING...", help="Name, code, id, or pasted text; - reads standard input."),
    ] = None,
    language: LanguageOption = ENGLISH,
    *,
    result: ResultOptions,
) -> None:
    """Explain an error, a setting, a check, or any other term.

    Takes error codes and exceptions of all clients, stack traces, log lines, states, APIs, KIPs, settings, metrics,
    checks, bugs, runbooks, and Kafka's files, in English, Chinese, German, French, or Spanish. Lists all by default.

    Examples:
        eosctl explain "ProducerFencedException: There is a newer producer"
        eosctl explain INVALID_PRODUCER_EPOCH
        eosctl explain - < stacktrace.txt
    """
    if option := next((word for word in words or () if word.startswith("-") and not _ERROR_CODE.fullmatch(word)), None):
        raise UsageError(f"No such option: {option}", "", "Quote pasted text; see eosctl explain --help.")
    if not words:
        emit_list(("entries", "explain"), all_entries(), ENTRY_COLUMNS, result, invocation)
    found = answer(standard_input(LONGEST_PASTED) if words == ["-"] else " ".join(words))
    _emit(found, "explain", language, result, invocation)


def explain_setting(
    invocation: Invocation,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Setting, e.g. transaction.timeout.ms.")],
    language: LanguageOption = ENGLISH,
    *,
    result: ResultOptions,
) -> None:
    """Explain a setting.

    Shows where the setting exists, its default in each release, its effect on exactly-once, and the rules that read it.
    It is eosctl explain for settings only.

    Examples:
        eosctl config explain transaction.timeout.ms
        eosctl config explain isolation.level -o json
    """
    _emit(answer_named(key, EntryKind.SETTING), "config explain", language, result, invocation)


def explain_category(
    invocation: Invocation,
    category: Annotated[str, typer.Argument(metavar="CATEGORY", help="Category, e.g. PRODUCER_FENCED.")],
    language: LanguageOption = ENGLISH,
    *,
    result: ResultOptions,
) -> None:
    """Explain a category of log records.

    Shows what the category means, how it is recognized, and what to do next. It is eosctl explain for categories only.

    Examples:
        eosctl logs explain PRODUCER_FENCED
        eosctl logs explain PRODUCER_FENCED -o json
    """
    _emit(answer_named(category, EntryKind.LOG_CATEGORY), "logs explain", language, result, invocation)


def explain_check(
    invocation: Invocation,
    check_id: Annotated[str, typer.Argument(metavar="ID|NAME", help="Check, e.g. EOS-TXN-001 or hanging-transaction.")],
    language: LanguageOption = ENGLISH,
    *,
    result: ResultOptions,
) -> None:
    """Explain a check, or another kind of finding.

    Shows what the check inspects, why it matters, how to fix the problem, and how to verify the fix. It is eosctl
    explain for checks only.

    Examples:
        eosctl check explain EOS-TXN-001
        eosctl check explain hanging-transaction
    """
    _emit(answer_named(check_id, EntryKind.CHECK), "check explain", language, result, invocation)


def explain_metric(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Bean, attribute, or Prometheus name.")],
    language: LanguageOption = ENGLISH,
    *,
    result: ResultOptions,
) -> None:
    """Explain a metric.

    Shows what the metric measures and which values are healthy. For a name that no release has, shows the metric to use
    instead. It is eosctl explain for metrics only.

    Examples:
        eosctl metrics explain PartitionsWithLateTransactionsCount
        eosctl metrics explain kafka.server:type=ReplicaManager,name=PartitionsWithLateTransactionsCount
    """
    _emit(answer_named(name, EntryKind.METRIC), "metrics explain", language, result, invocation)


def _emit(found: Explained, command: str, language: str, result: ResultOptions, invocation: Invocation) -> NoReturn:
    explanations = in_language(found.explanations, language)
    page = partial(render_explanations, explanations, found.pasted.values)
    emit_list(("explanations", command), explanations, EXPLANATION_COLUMNS, result, invocation, page=page)
