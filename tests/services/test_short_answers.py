"""Short answers in other languages are data, and belong to what there is."""

from __future__ import annotations

import pytest

from eosctl.errors import UsageError
from eosctl.knowledge.reference.index import load_index
from eosctl.knowledge.reference.languages import PROCEDURE, languages, load_answers
from eosctl.model.reference import ENGLISH, EntryKind
from eosctl.runbooks.refused import REFUSED
from eosctl.services.explain import explain
from eosctl.services.find_runbooks import find_runbooks
from eosctl.services.reference.chinese import is_chinese
from eosctl.services.short_answers import in_language, procedure_in_language
from tests.commands.conftest import eosctl


@pytest.mark.parametrize("language", languages())
def test_every_answer_belongs_to_an_entry_or_a_procedure(language: str) -> None:
    known = {(entry.kind.value, entry.name) for entry in load_index()} | {(PROCEDURE, one.name) for one in REFUSED}
    answers = load_answers(language)
    assert [key for key in answers if key not in known] == []
    assert all(answer.headline for answer in answers.values())
    assert {name for kind, name in answers if kind == PROCEDURE} == {one.name for one in REFUSED}


def test_frequent_entries_and_runbooks_have_a_chinese_answer() -> None:
    answers = load_answers("zh")
    kinds = [kind for kind, _ in answers]
    assert len(kinds) - kinds.count(PROCEDURE) - kinds.count(EntryKind.RUNBOOK) >= 50
    assert kinds.count(EntryKind.RUNBOOK) >= 25
    assert all(is_chinese(answer.headline) for answer in answers.values())


def test_an_answer_is_added_where_the_language_has_one() -> None:
    found = explain("PRODUCER_FENCED").explanations[:1]
    (answered,) = in_language(found, "zh")
    assert answered.short is not None
    assert [fact.label for fact in answered.short.facts] == ["原因", "下一步"]
    assert in_language(found, ENGLISH) == found
    assert in_language(find_runbooks("disk full").matches[:1], "zh")[0].short is not None
    assert procedure_in_language(REFUSED[0], ENGLISH) is None


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="No answers in the language 'tlh'"):
        in_language((), "tlh")
    assert "en, zh" in eosctl("explain", "--lang", "tlh", "LSO").err


def test_commands_answer_in_chinese_where_it_is_asked_for() -> None:
    found = eosctl("diagnose", "--lang", "zh", "事务超时")
    assert "事务因超时被协调器中止" in found.out
    assert "事务因超时被协调器中止" not in eosctl("diagnose", "事务超时").out
    refused = eosctl("diagnose", "--lang", "zh", "删除 __transaction_state")
    assert (refused.code, "危险操作" in refused.out, "REFUSED" in refused.out) == (3, True, True)
    (item, *_) = eosctl("diagnose", "--lang", "zh", "disk full", "-o", "json").json["items"]
    assert is_chinese(item["short"]["headline"])
