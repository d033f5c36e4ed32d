"""What is looked for first, or around spots alone, hides nothing that the slow patterns find.

Texts are put together by chance of what the patterns look for. A pattern that was written anew to
be faster is compared with the plain way to say it.
"""

import re
from itertools import product

import pytest

from nes_spark.text import (
    addresses,
    aliases,
    language,
    normalizing,
    people,
    presentation,
    sentences,
)
from nes_spark.text.matching import Matcher
from nes_spark.text.presentation import Turn
from nes_spark.text.spots import standing
from tests.chance import texts_of

ALWAYS = re.compile("")


FRAMED = (
    *("Welcome", "welcomed", "joining us", "join us", "there", "listening", "you", "everybody"),
    *("today", "again", "to", "for", "at", "in", "of", "the", "our", "this", "Acme", "Globex Corp"),
    *("Acme's", "Acme’s", "Acmes'", "third quarter", "results", "earnings", "conference call"),
    *("call", "We", "all of us", "team", "shareholders", "people", "invested", "interest", "here"),
    *("and", "&", "2020", "Q3", "É", "point", "a record", "quarterly"),
    *("Welcome to the Acme", "joining us today for", "here at our", "listening to Globex's"),
    *("welcomed all to Acme", "join us again on", "Joining everyone back in the"),
)


@pytest.mark.parametrize("number", [n for n, f in enumerate(aliases._FRAMES) if f.spot])
def test_around_its_spots_a_frame_is_all_that_it_is_elsewhere(number):
    frame = aliases._FRAMES[number]
    hits = 0
    for text in texts_of(FRAMED, [" ", " ", " ", ", ", ". "], count=8000, most=14):
        spots = aliases._asked(["before", text], [frame]).get(1, {}).get(0, [])
        found = [m.span() for m in frame.matches(text, spots)]
        assert found == [m.span() for m in frame.pattern.finditer(text)], text
        hits += len(found)
    assert hits > 30


def test_each_word_before_a_name_leads_to_a_spot():
    """Chance puts few of them together."""
    greeting, at = aliases._FRAMES[0], aliases._FRAMES[7]
    greetings = ("Welcome", "welcomed", "joining us", "here", "Join us", "Joining", "listening")
    whom = ("", " you", " all", " everyone", " everybody", " back", " you back")
    for words in product(
        greetings, whom, ("", " today", " again"), ("to", "for", "on", "at", "in")
    ):
        for article in ("", "the ", "our ", "today's ", "this "):
            text = f"Yes, {''.join(words[:3])} {words[3]} {article}Acme's third quarter"
            spots = aliases._asked([text], [greeting])[0][0]
            assert len([*greeting.matches(text, spots)]) == 1, text
    who = (
        *("We", "we", "here", "all of us", "Everyone", "team", "Teams", "colleagues", "people"),
        *("employees", "joined", "Join", "interest", "interested", "confidence", "support"),
        *("shareholders", "invest", "investment", "investing", "invested"),
    )
    for words in product(who, ("", " here"), ("at", "in", "of"), ("", "the ")):
        text = f"Yes, {words[0]}{words[1]} {words[2]} {words[3]}Acme"
        spots = aliases._asked([text], [at])[0][0]
        assert len([*at.matches(text, spots)]) == 1, text


def test_turns_without_a_word_of_a_frame_have_no_match():
    turns = texts_of(FRAMED, count=300)
    frames = aliases._said_in(" ".join(turns), aliases._FRAMES)
    asked = aliases._asked(turns, frames)
    for n, turn in enumerate(turns):
        for number, frame in enumerate(aliases._FRAMES):
            if number not in asked.get(n, {}):
                assert frame.pattern.search(turn) is None, (turn, number)


def test_what_fills_a_pause_is_seen():
    pieces = ("um", "Um,", "uh", "ER", "hmm", "Sales", "ah,", "rum", "album.", "mm-hmm", "İ")
    texts = texts_of(pieces, [" ", ", ", ",", ""])
    found = [t for t in texts if people._FILLER.search(t) or aliases._FILLER.search(t)]
    assert len(found) > 100
    assert all(map(sentences.has_filler, found))


def test_mail_addresses_are_the_same_with_and_without_a_look():
    pieces = (
        "ann",
        "dot",
        "roe",
        "at",
        "(at)",
        "[AT]",
        "acme",
        "com",
        ".com",
        "@",
        "DOT",
        "org",
        "í",
    )
    hits = 0
    for text in texts_of(pieces, [" ", "", " "], count=6000):
        found = list(addresses.email_spans(text))
        assert found == [m.span() for m in addresses._EMAIL.finditer(text)], text
        hits += bool(found)
    assert hits > 20


def test_the_session_begins_where_it_did_without_looks(monkeypatch):
    pieces = (
        *("We will now begin the question-and-answer session", "Our first question is from Ann"),
        *(
            "Operator, we can open up the lines",
            "please press star one",
            "Q & A",
            "the first caller",
        ),
        *("We go first to Bo", "first up is Bo from Globex", "Let us start the Q&A", "qa & more"),
        *("I will hand the floor to the analysts", "take any questions", "Sales grew", "open now"),
        *("The lines are now open", "We will pause for a moment to compile the roster"),
        *("ladies and gentlemen", "thank you for standing by", "The call is being recorded"),
        *(
            "first in the queue",
            "this is your operator",
            "a record year " * 30,
            "Sales rose. " * 40,
        ),
        *("the first analyst we have is from Globex", "Questions and Answers", "over to Q and A"),
    )
    calls = [
        [Turn(turn, speaker) for turn, speaker in zip(turns, "ABCABD", strict=True)]
        for turns in zip(
            *[iter(texts_of(pieces, [". ", ", ", "? "], count=1800, most=5))] * 6, strict=True
        )
    ]

    def everything():
        presentation._operator_phrases.cache_clear()
        return [
            (presentation._boundary(turns), [*presentation._handovers(turns, len(turns))])
            for turns in calls
        ]

    found = everything()
    assert len({rule for (*_, rule), _ in found}) >= 4
    monkeypatch.setattr(presentation, "_is_about", lambda *_: True)
    monkeypatch.setattr(presentation, "_ABOUT_FIRST", ("",))
    asked = tuple((("",), pattern) for _, pattern in presentation._OPERATOR_PHRASES)
    monkeypatch.setattr(presentation, "_OPERATOR_PHRASES", asked)
    assert everything() == found


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (3, "this call is being recorded"),
        (3, "today is recording"),
        *((4, f"{word} zero") for word in ("press", "pressing", "dial", "hit", "push", "key")),
        (4, "star then one"),
        (6, "i turn the call over to ann"),
        (6, "to introduce our host"),
    ],
)
def test_an_operators_phrase_has_one_of_its_words(number, said):
    needed, pattern = presentation._OPERATOR_PHRASES[number]
    assert pattern.search(said)
    assert any(word in said for word in needed)


def test_a_handover_without_the_word_question_is_seen():
    for said in (
        "over to Q and A",
        "we open up the lines",
        "the call to the analysts",
        "on to Q-and-A",
    ):
        assert presentation._HANDOVER.search(said)
        assert presentation._is_about(presentation._ABOUT_HANDING, said.lower()), said


NAMES = (
    *("Mr", "Mr.", "Mrs.", "Ms.", "Dr.", "Prof.", "Miss", "Mx", "mr", "mrs.", "Ann", "Roe", "T"),
    *("mr bell", "mrs. roe", "Miss T", "Dr. J", "Mr. K."),
    *("Émile", "van", "der", "Berg", "d'Arc", "O'Neil", "Jean-Luc", "J", "A.", "Mia", "the", "of"),
    *("and", "CEO", "McKay", "Park's", "x", "May", "Praed", "Droe"),
)


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        (
            people._RUN,
            rf"(?<![\w'’-])(?:(?:Mr|Ms|Mrs|Dr|Prof)\. )?{people._CAP}"
            rf"(?:(?:(?<=\b[A-Z])\.)? (?:{people._PART} ){{0,2}}{people._LATER}){{0,8}}",
        ),
        (
            people._SMALL_TITLE,
            r"(?<![\w'’.@/-])mrs?\.? (?P<name>[a-z][a-zß-öø-ÿ]{2,})(?![\w@/-]|['’][^s])",
        ),
        (
            people._LETTER,
            r"(?<![\w'’-])(?:Mrs?|Ms|Miss|Mx|Dr)\.? (?P<name>[A-HJ-Z])"
            r"(?=\.?(?:['’]s|[,;:!?)|]| [^\W\dA-Z]| ?$)|\. (?P<then>[A-Z][a-z]*)(?!\w))",
        ),
        (language._LETTERS, r"(?<![^\W_])[^\W\d_]+(?:['’][^\W\d_]+)?(?![^\W_])"),
        (
            normalizing._PARTED,
            r"(?<=[^\W\d_])[-‐‑][ \t]*\r?\n[ \t]*(?=[a-zß-öø-ÿ])",
        ),
    ],
)
def test_a_fast_pattern_finds_what_the_plain_one_does(pattern, plain):
    slow = re.compile(plain)
    between = [" ", " ", " ", ", ", ". ", "-", "-\n", "’", "_", "3", "\n"]
    hits = 0
    for text in texts_of(NAMES, between, count=4000):
        found = [(m.span(), m.groupdict()) for m in pattern.finditer(text)]
        assert found == [(m.span(), m.groupdict()) for m in slow.finditer(text)], text
        hits += len(found)
    assert hits > 20


def test_the_first_names_before_a_surname_are_those_that_a_pattern_with_it_finds():
    own = Matcher([], {})
    inside = r"(?:(?<=[^\W\d_A-Z] )|(?<=[^\W\d_A-Z][,;] ))(?<!\bthe )"
    pattern = re.compile(rf"{inside}([A-Z][^\W\d_A-Z]+) Roe(?!\w)")
    names = ("Robert", "William", "Grace", "Mr. Roe", "Roe", "the", "and", "met", "Roes", "McKay")
    hits = 0
    for text in texts_of(names, [" ", " ", ", ", ". "], count=3000):
        if not re.search(r"(?<!\w)Mr\. Roe(?!\w)", text):
            continue  # who is known by a title
        given = [
            first for first in dict.fromkeys(pattern.findall(text)) if people.is_given_name(first)
        ]
        found = list(people._full_names("Roe", text, own))
        assert [name.split()[0] for name in found if people.is_given_name(name.split()[0])] == given
        hits += len(given)
    assert hits > 20


def test_who_has_one_name_twice_is_known_by_both():
    turns = [Turn("I was seen by Dr Hassan Hassan in clinic today. Dr Hassan agreed.")]
    assert people.mine_people(turns) == ["Hassan Hassan"]


def test_texts_are_tidied_and_read_as_without_looks(monkeypatch):
    pieces = (
        *("Ac\u00adme", "Ac\u200bWorks", "Ma\u0301ria", "\ufb01rst", "a\u200db", "ＡＢ", "’", "é"),
        *("Аcme", "ΝΟΚΙΑ", "plain", "\u200c", "x\u0301", "\U0001d400", "\u00ad\n", "ы", "中"),
    )
    texts = texts_of(pieces, [" ", "", "\n"], count=3000)
    found = [(normalizing.tidied(t), normalizing.latin_looks(t)) for t in texts]
    assert sum(tidied.text != t for t, (tidied, _) in zip(texts, found, strict=True)) > 100
    assert sum(looks != t for t, (_, looks) in zip(texts, found, strict=True)) > 100
    monkeypatch.setattr(normalizing, "_UNTIDY_MARK", ALWAYS)
    monkeypatch.setattr(normalizing, "_HAS_LOOKS", ALWAYS)
    assert [(normalizing.tidied(t), normalizing.latin_looks(t)) for t in texts] == found


def test_where_a_word_stands_is_what_a_pattern_with_it_says():
    pieces = ("acme", "Acme", "acmes", "’acme", "acmé", "-acme", "xacme", "acmeacme", "acme3")
    for text in texts_of(pieces, [" ", "", ", ", "-", "_"]):
        for before, behind in (("[\\w'’]", "[a-z]"), ("[\\w'’-]", "[a-zß-öø-ÿ]")):
            told = [*standing("acme", text, re.compile(before), re.compile(behind))]
            plain = re.finditer(rf"(?<!{before})acme(?!{behind})", text)
            assert told == [m.start() for m in plain], text


def test_misspelt_words_are_looked_for_by_their_first_letter():
    """Words that begin with another letter are never a name's; those with the same one may be."""
    text = "Nokaila Media, Kokalia Media and No Kalia said so. Ecko Patrol and Eco Patrol did."
    assert aliases._misspelt(text, ["Nokalia Media", "Ecopetrol"], set()) == [
        "Ecko Patrol",
        "Eco Patrol",
        "Nokaila Media",
    ]
