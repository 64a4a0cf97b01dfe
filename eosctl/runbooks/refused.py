"""Procedures that circulate and destroy data: recognized by what is done to what, and refused with the safe way."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.knowledge.reference.european import in_english
from eosctl.runbooks.phrases import Form, Procedure, Sentence, Token, Way, compiled, load_phrasebook, sentences_of

REFUSED: Final[tuple[Procedure, ...]] = load_phrasebook().procedure
_CONJUNCTIONS: Final = frozenset({"and", "or", "then", ",", "&", "&&", "plus", "+", "、", "并", "和", "再", "然后"})
_HAN_PASSIVE: Final = frozenset({"被", "已", "误", "刚", "曾", "遭", "经"})
_HAN_DONE: Final = frozenset({"了", "过"})
_HAN_OBJECT_MARKS: Final = frozenset({"把", "将", "对", "给"})
_PREVENTS_BASE: Final = frozenset({
    "avoid", "rather", "instead", "beware", "refrain", "deny", "denies", "forbid", "forbids",
    "不", "避免", "防止", "禁止", "阻止", "杜绝", "而不是", "而非",
})  # fmt: skip

_CLAUSE_ENDS: Final = frozenset({",", "?", "!", ":"})
_NEAR_INTENTION: Final = (8, 3)
"""Within how many words before a verb its intention stands: in Chinese, where a word is a character, and in English."""

# What may stand between a setting and its value.
_LEAD: Final = (
    r"(?:\W|\b(?:to|at|be|as|down|back|from \d+|\d+(?= set to)|value|of|the|only|just|set|please"
    r"|for all topics|on all brokers)\b|为|成|到|改|设|置|调|降)*"
)

_PARTITION_COUNT: Final = r"(?:=|\bto) ?\d+$|^\S*partitions? ?[:=] ?\d+ (?:for|of|on)\b"


class Mood(IntEnum):
    """How a text names a procedure, the strongest last."""

    REPORTED = 0
    WARNED = 1
    ASKED = 2
    ORDERED = 3


class Recognized(NamedTuple):
    """A procedure that a text names, and how."""

    procedure: Procedure
    mood: Mood


def find_refused(text: str) -> tuple[Procedure, ...]:
    """Return the procedures that a text asks for, in the order of the data."""
    return tuple(found.procedure for found in recognize(text) if found.mood is Mood.ORDERED)


def recognize(text: str) -> tuple[Recognized, ...]:
    """Return the procedures that a text names, each with the strongest mood in which it does.

    Who asks whether, and elsewhere for the command, asks for the procedure.
    """
    moods: dict[str, Mood] = {}
    before: Token | None = None
    wants_steps = False
    for sentence in sentences_of(text):
        wants_steps = wants_steps or _is_any(load_phrasebook().moods.steps, sentence.text)
        for procedure in REFUSED:
            for mood in _moods(procedure, sentence, before):
                moods[procedure.name] = max(mood, moods.get(procedure.name, mood))
        before = next((token for token in reversed(sentence.tokens) if token.is_object), before)
    if wants_steps:
        moods = {name: Mood.ORDERED if mood is Mood.ASKED else mood for name, mood in moods.items()}
    return tuple(
        Recognized(_with_aim(procedure, text), moods[procedure.name])
        for procedure in REFUSED
        if procedure.name in moods
    )


def _with_aim(procedure: Procedure, text: str) -> Procedure:
    """Return a procedure with the safe way to what a text wants to reach by it."""
    aim = next((one for one in procedure.aim if compiled(one.shows).search(in_english(text))), None)
    return procedure if aim is None else replace(procedure, instead=" ".join(aim.instead.split()), runbook=aim.runbook)


def _moods(procedure: Procedure, sentence: Sentence, before: Token | None) -> Iterator[Mood]:
    for way in procedure.way:
        if way.aspect and not _spots(way.aspect, sentence):
            continue
        if any(token.text in way.nowhere for token in sentence.tokens):
            continue
        targets = [at for at, token in enumerate(sentence.tokens) if token.is_object in way.object]
        for at, token in enumerate(sentence.tokens):
            if way.verb not in token.verbs or (way.plan and not _is_planned(sentence, at)):
                continue
            is_target = any(
                _acts_on(way, sentence, at, target) and _value_end(way, sentence, target) for target in targets
            )
            if is_target or (not targets and not way.value and _names_it(way, sentence, at, before)):
                yield _mood(way.verb, sentence, at)
        if not way.plan and _is_bare_setting(way, sentence, targets):
            yield Mood.ASKED if _is_any(load_phrasebook().moods.question, sentence.text) else Mood.ORDERED


def _is_planned(sentence: Sentence, at: int) -> bool:
    """Return whether a verb begins its sentence or follows a word of an intention."""
    moods = load_phrasebook().moods
    near = _NEAR_INTENTION[sentence.tokens[at].text.isascii()]
    before = [token.text for token in sentence.tokens[max(0, at - near) : at]]
    is_condition = any(word in moods.after for word in before)
    # In German, the verb of a wish comes last.
    is_last = all(token.text in _CLAUSE_ENDS for token in sentence.tokens[at + 1 : at + 2])
    is_wanted = not before or before[-1] == "," or is_last or not moods.intends.isdisjoint(before)
    return not is_condition and (is_wanted or _is_any(moods.how_to, sentence.text) or _is_command(sentence))


def _spots(aspect: str, sentence: Sentence) -> tuple[tuple[int, int], ...]:
    return _find_spots(aspect, sentence.text)


@lru_cache(maxsize=64)
def _find_spots(aspect: str, text: str) -> tuple[tuple[int, int], ...]:
    patterns = map(compiled, load_phrasebook().aspects[aspect])
    return tuple(found.span() for pattern in patterns for found in pattern.finditer(text))


@lru_cache(maxsize=64)
def _is_any(patterns: tuple[str, ...], text: str) -> bool:
    return any(compiled(pattern).search(text) for pattern in patterns)


def _is_command(sentence: Sentence) -> bool:
    return _is_any(load_phrasebook().moods.tools, sentence.text)


def _acts_on(way: Way, sentence: Sentence, verb: int, target: int) -> bool:
    """Return whether a verb of a sentence governs an object of it."""
    tokens = sentence.tokens
    if _is_command(sentence) and (tokens[verb].is_option or tokens[verb].text == "rm"):
        return not any(token.text in way.unless for token in tokens if token.text.startswith("kafka-"))
    low, high = sorted((verb, target))
    between = tokens[low + 1 : high]
    if _acts_on_something_else(way, sentence, verb, target):
        return False
    spots = _spots(way.aspect, sentence) if way.aspect else []
    for at, token in enumerate(between, low + 1):
        if not _is_verb(sentence, at) or any(start <= token.start < end for start, end in spots):
            continue
        if at and tokens[at - 1].text in ("that", "which", "who"):
            continue
        if verb < target and all(one.text in _CONJUNCTIONS or one.verbs for one in tokens[verb + 1 : at]):
            continue
        if verb > target and (
            way.verb in token.verbs or all(o.text in _CONJUNCTIONS or o.verbs for o in tokens[at + 1 : verb])
        ):
            continue
        if verb > target and not _has_own_object(way, sentence, verb):
            continue
        return False
    return verb < target or not _has_own_object(way, sentence, verb)


def _acts_on_something_else(way: Way, sentence: Sentence, verb: int, target: int) -> bool:
    tokens = sentence.tokens
    adjuncts = load_phrasebook().moods.adjuncts
    if way.aspect:
        starts = [start for start, _ in _spots(way.aspect, sentence) if start >= tokens[verb].end]
        end = next((at for at, token in enumerate(tokens) if starts and token.start >= min(starts)), verb)
        span = range(verb + 1, end)
        return any(
            tokens[at].text in way.unless and not any(tokens[k].text in _CONJUNCTIONS for k in range(at, end))
            for at in span
        )
    low, high = sorted((verb, target))
    if any(token.text in way.unless for token in tokens[low + 1 : high]):
        return True
    for token in tokens[target + 1 : target + 4]:
        if token.text in adjuncts or token.text in _CONJUNCTIONS:
            return False
        if token.text in way.unless:
            return True
    return False


def _has_own_object(way: Way, sentence: Sentence, verb: int) -> bool:
    """Return whether something else than a pronoun follows a verb."""
    moods = load_phrasebook().moods
    spots = _spots(way.aspect, sentence) if way.aspect else []
    for token in sentence.tokens[verb + 1 :]:
        if token.text in moods.adjuncts or token.text in _CONJUNCTIONS:
            return False
        if (
            any(start <= token.start < end for start, end in spots)
            or token.text.isdigit()
            or token.text in moods.pronouns
        ):
            continue
        if way.value and compiled(way.value).fullmatch(token.text):
            continue
        if token.is_object in way.object or token.text in _HAN_DONE or token.verbs:
            continue
        return len(token.text) > 1 and token.text.isascii()
    return False


def _names_it(way: Way, sentence: Sentence, verb: int, before: Token | None) -> bool:
    """Return whether a pronoun after a verb stands for the object of an earlier sentence."""
    if before is None or before.is_object not in way.object:
        return False
    nearby = {token.text for token in sentence.tokens[max(0, verb - 3) : verb + 3]}
    return bool({"it", "them", "它", "该", "此", "topic"} & nearby) and not _has_own_object(way, sentence, verb)


def _value_end(way: Way, sentence: Sentence, target: int) -> int:
    """Return where the value of a way ends in a sentence, behind its object; 0 if it is not there."""
    end = sentence.tokens[target].end
    if not way.value:
        return end
    found = compiled(rf"{_LEAD}(?<![\w.])(?:{way.value})(?![\w.])").match(sentence.text, end)
    return found.end() if found else 0


def _is_bare_setting(way: Way, sentence: Sentence, targets: list[int]) -> bool:
    """Return whether a sentence is nothing but a setting with a harmful value, or the same of a topic's partitions."""
    if any(_is_verb(sentence, at) for at in range(len(sentence.tokens))) or not targets:
        return False
    if any(token.text in load_phrasebook().moods.report for token in sentence.tokens):
        return False
    if way.value:
        end = _value_end(way, sentence, targets[0])
        following = next((token.text for token in sentence.tokens if token.start >= end), "")
        return targets[0] == 0 and end > 0 and (not following or following in load_phrasebook().moods.adjuncts)
    if way.aspect == "partitions":
        is_first = targets[0] == 0 or any(start == 0 for start, _ in _spots(way.aspect, sentence))
        return is_first and compiled(_PARTITION_COUNT).search(sentence.text) is not None
    return False


def _is_verb(sentence: Sentence, at: int) -> bool:
    """Return whether a word that may be a verb is one where it stands."""
    token = sentence.tokens[at]
    return bool(token.verbs) and not all(_is_noun_here(name, sentence, at) for name in token.verbs)


def _is_noun_here(name: str, sentence: Sentence, at: int) -> bool:
    token = sentence.tokens[at]
    form = token.verbs[name]
    if form is not Form.BASE or token.is_option:
        return form is Form.NOUN
    moods = load_phrasebook().moods
    previous = sentence.tokens[at - 1].text if at else ""
    if previous in moods.determiners:
        return True
    if token.text not in load_phrasebook().verbs[name].ambiguous:
        return False
    if at + 1 < len(sentence.tokens) and sentence.tokens[at + 1].text == "of":
        return True
    return not (at == 0 or previous in moods.licensors or not previous[-1].isalpha())


def _mood(name: str, sentence: Sentence, at: int) -> Mood:
    """Return how a verb is meant: ordered, asked about, warned of, or reported."""
    moods = load_phrasebook().moods
    tokens, token = sentence.tokens, sentence.tokens[at]
    form = token.verbs[name]
    colon = next((one.end for one in reversed(tokens[:at]) if one.text == ":"), 0)
    said = sentence.text[colon:].strip()
    is_polite = _is_any(moods.polite, said)
    is_how_to = _is_any(moods.how_to, said)
    unless_asked = Mood.ORDERED
    if not is_polite and not is_how_to and _is_any(moods.question, said):
        unless_asked = Mood.ASKED
    if not said.startswith(("why not", "why dont")) and _is_negated(sentence, at, form):
        return Mood.WARNED
    done = Mood.ASKED if unless_asked is Mood.ASKED else Mood.REPORTED
    previous = tokens[at - 1].text if at else ""
    words = [one.text for one in tokens[:at]]
    if moods.ran & set(words) and _is_command(sentence):
        return done
    if token.is_option:
        return unless_asked
    match form:
        case Form.PAST:
            is_passive = bool(words) and words[-1] in ("be", "get") and bool(moods.modals & set(words[-5:-1]))
            is_wish = any(word in moods.wishes for word in words) and any(one.is_object for one in tokens[:at])
            return unless_asked if is_passive or (is_wish and previous not in moods.after) else done
        case Form.THIRD:
            return Mood.ORDERED if is_how_to else done
        case Form.NOUN:
            return unless_asked if is_polite or moods.plans & set(words[-4:]) else done
        case Form.GERUND:
            ours = len(words) > 1 and words[-2] in moods.persons
            is_past = (previous in moods.after and not ours) or any(one.text in moods.report for one in tokens)
            return done if is_past else unless_asked
        case Form.HAN:
            return done if _is_done_in_chinese(sentence, at) else unless_asked
        case Form.BASE:
            if _is_noun_here(name, sentence, at):
                return unless_asked if moods.plans & set(words[-4:]) and previous not in moods.after else done
            return Mood.ASKED if _is_supposed(sentence, at) else unless_asked


def _is_negated(sentence: Sentence, at: int, form: Form) -> bool:
    moods = load_phrasebook().moods
    tokens = sentence.tokens
    for index in range(at - 1, -1, -1):
        text = tokens[index].text
        if text in moods.negation:
            return True
        is_han_object = form is Form.HAN and (tokens[index].is_object or text in _HAN_OBJECT_MARKS)
        if (
            text not in moods.glue
            and not is_han_object
            and not (tokens[index].verbs and text in _verbs_of_chains(tokens, index, at))
        ):
            break
    for index in range(at - 1, -1, -1):
        text = tokens[index].text
        if text in moods.clause_end and text not in moods.prevention:
            return False
        if text in moods.prevention and (form not in (Form.BASE,) or text in _PREVENTS_BASE):
            return True
    return False


def _verbs_of_chains(tokens: tuple[Token, ...], index: int, at: int) -> frozenset[str]:
    """Return the verbs that a negation passes over: "never drop or delete"."""
    is_chain = all(one.text in _CONJUNCTIONS or one.verbs for one in tokens[index + 1 : at])
    return frozenset(one.text for one in tokens[index:at]) if is_chain and at - index > 1 else frozenset()


def _is_supposed(sentence: Sentence, at: int) -> bool:
    """Return whether a verb stands in a supposition: "if we delete it, ..."."""
    moods = load_phrasebook().moods
    people = moods.persons | moods.glue | {"you", "they", "someone", "somebody", "anyone", "one", "to", "were", "would"}
    for token in reversed(sentence.tokens[:at]):
        if token.text in ("if", "whether", "should") and token.text != "should":
            return True
        if token.text not in people:
            return False
    return False


def _is_done_in_chinese(sentence: Sentence, at: int) -> bool:
    tokens, moods = sentence.tokens, load_phrasebook().moods
    if any(one.text in moods.report for one in tokens):
        return True
    if any(one.text in _HAN_PASSIVE for one in tokens[max(0, at - 2) : at]):
        return True
    after = [one.text for one in tokens[at + 1 : at + 3]]
    if not after or after[0] not in _HAN_DONE:
        return False
    is_wish = after[1:] == ["吧"] or any(one.text in ("把", "将") for one in tokens[:at])
    return not is_wish
