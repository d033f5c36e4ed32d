"""Clues: what of them stands in a text, and where."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nes_spark.entities.clues import (
    MOST_WORDS,
    Clue,
    Clues,
    barred_by,
    clue_mentions,
    names_barred,
    read_clue,
    read_clues,
)
from nes_spark.entities.mentions import Mention
from nes_spark.entities.terms import may_give

TEXT = (
    "We embrace reality, and redefine winning.\n\nOur local news app grew 24 percent; the apps of "
    "[Company Name] are turboprops' best friend. Orion's turbo-prop sells to retailers."
)


def words_of(found):
    return [" ".join(clue.words) for clue in found]


@pytest.mark.parametrize(
    ("clue", "expected"),
    [
        ("embrace reality, and redefine winning", ["embrace reality and redefine winning"]),
        # case, accents, what stands between, singular and plural, grammar at the ends
        ("The LOCAL néws Apps", ["local news app"]),
        ("turbo prop", ["turbo prop"]),
        # an exchange had brought in other words, or the reader goes over a placeholder
        ("We embrace reality, and Hadria winning", ["embrace reality"]),
        ("news app of [Company Name] are turboprops", ["news app", "turboprop"]),
        ("local news app of Hadria grew 24 percent", ["local news app", "grew 24 percent"]),
        # one word that is left of a clue: the name of a thing, which not everybody uses
        ("Hadria turboprops", ["turboprop"]),
        ("Hadria friend", []),
        ("Hadria reality 24 embrace", []),
        ("of the", []),
        ("", []),
        ("[Term]", []),
    ],
)
def test_what_of_a_clue_a_text_has(clue, expected):
    assert words_of(read_clue(clue, TEXT)) == expected


def test_the_pieces_of_a_clue_are_the_longest_ones():
    text = "The core segment has high margins. High pressure pumps of the core segment sell."
    assert words_of(read_clue("high pressure pumps in high margins", text)) == [
        "high pressure pump",
        "high margin",
    ]


@pytest.mark.parametrize(
    "forms",
    [
        "gas gases", "virus viruses", "lens lenses", "bus buses", "movie movies", "hero heroes",
        "cookie cookies", "shelf shelves", "knife knives", "cache caches", "analysis analyses",
        "diagnosis diagnoses", "box boxes", "tax taxes", "battery batteries", "mattress mattresses",
        "shoe shoes", "base bases", "case cases", "believe believes", "RV RVs rvs", "EV EVs",
        "GPU GPUs", "iPad iPads", "series", "news", "gas",
    ],
)  # fmt: skip
def test_singular_and_plural_are_one(forms):
    forms = forms.split()
    for clue in forms:
        ((words, _),) = read_clue(clue, " and ".join(forms))
        assert [m.surface for m in clue_mentions(", ".join(forms), [words])] == forms


@pytest.mark.parametrize(
    ("one", "other"), [("news", "new"), ("wells", "well"), ("mines", "mine"), ("lens", "len")]
)
def test_what_only_looks_like_a_plural_is_none(one, other):
    assert read_clue(one, other) == read_clue(other, one) == []


@pytest.mark.parametrize(
    "slogan",
    [
        "Just Do It", "Yes, we can", "Have it your way", "I'm lovin' it",
        "It's not what we do, it's how we do it",
    ],
)  # fmt: skip
def test_a_slogan_is_all_of_its_words(slogan):
    text = f"As ever: {slogan.lower()}. It is what we do."
    ((words, wide), *_) = read_clue(slogan, text)
    assert wide
    (found,) = clue_mentions(text, [words])
    assert found.surface == slogan.lower().rstrip(".")
    # what is left of one beside a placeholder or in another text is none
    assert read_clue(f"[Term] {slogan}", "It is how we do it your way.") == []


def test_the_word_of_a_slogan_that_tells_does_so_by_itself():
    assert words_of(read_clue("all of our kilns", "It is all of our kilns.")) == [
        "all of our kiln",
        "kiln",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "AT&T", "M&M", "M&A", "R&D", "R & D", "Model S", "Vitamin D", "T-Mobile", "S&P 500", "U.S",
        "Series A", "Phase I", "e-commerce",
    ],
)  # fmt: skip
def test_single_letters_are_part_of_a_name(name):
    text = f"It is the {name} of theirs, and the {name}'s."
    for clue in (name, f"the {name}", f"{name}'s"):
        ((words, wide),) = read_clue(clue, text)
        assert wide
        assert [m.surface for m in clue_mentions(text, [words])] == [name, name]


@pytest.mark.parametrize(
    ("clue", "expected"),
    [
        ("a turboprop", ["turboprop"]), ("A turboprop", ["turboprop"]),
        ("I redefine winning", ["redefine winning"]),
        ("don't redefine winning", ["redefine winning"]),
    ],
)  # fmt: skip
def test_letters_that_are_words_are_none(clue, expected):
    text = f"Where {clue} is, they redefine winning, and a turboprop."
    assert words_of(read_clue(clue, text)) == expected
    # and an apostrophe's s is no letter of a name
    assert read_clue("Model S", "Our model's best.") == []


@pytest.mark.parametrize(
    ("clue", "wide"),
    [
        ("turboprops", True), ("best friend", True), ("retailers", True),
        # everybody says it; a verb; a number
        ("reality", False), ("grew", False), ("24", False),
        ("2.5", False), ("1,000", False), ("10-K", False), ("Q3", False), ("26M", False),
        ("EV", True), ("EVs", True), ("5G", True), ("AI", True), ("B2B", True),
        ("2.5 liters", True),
    ],
)  # fmt: skip
def test_which_tell_in_the_whole_document(clue, wide):
    text = f"{TEXT} EV 5G AI B2B 2.5 liters, 1,000, 10-K Q3 26M"
    assert [found.wide for found in read_clue(clue, text)] == [wide]


def test_of_several_pieces_the_longest_is_taken_wherever_it_stands():
    text = "Our big blue is here. The blue box store is there."
    assert words_of(read_clue("big blue box store", text)) == ["blue box store"]


def test_several_clues_are_told_apart():
    text = "Orion turboprops sold."
    assert read_clues(["Hadria turboprops", "sold", "of", "xyzzy"], text) == [
        ("Hadria turboprops", Clue(("turboprop",), True), False),
        ("sold", Clue(("sold",), False), True),
    ]


@pytest.mark.parametrize("written", ["ready . . . mix", "ready_mix", "ready --- mix", "ready\nmix"])
def test_what_stands_between_the_words_of_a_clue(written):
    assert [m.surface for m in clue_mentions(f"Our {written}.", [("ready", "mix")])] == [written]


def test_a_slogan_over_a_mention_leaves_no_words_of_grammar():
    text = "Just do Orion kilns and it."
    known = [Mention(8, 13, "Organization", "Orion", "Orion")]
    clues = [("just", "do", "orion", "kiln", "and", "it")]
    assert [m.surface for m in clue_mentions(text, clues)] == ["Just do Orion kilns and it"]
    assert [m.surface for m in clue_mentions(text, clues, known)] == ["kilns"]


def test_the_words_of_a_clue_are_barred_with_their_kin():
    found = {*barred_by("the ready mix kiln"), *barred_by("ev shelf analysis chinese")}
    assert {
        "ready", "mix/modifier", "kilns", "ready-mix", "mixkilns/mass", "EVs", "shelves",
        "analyses", "Chinese",
    } <= found  # fmt: skip
    assert {"the", "the-ready", "MIXKILN", "Kiln"}.isdisjoint(found)


def test_a_text_is_no_clue():
    long = " ".join(f"word{i}" for i in range(MOST_WORDS + 1))
    assert read_clue(long, long) == []
    assert len(read_clue(long.rpartition(" ")[0], long)) == 1


def test_words_of_two_paragraphs_are_no_clue():
    assert words_of(read_clue("winning our local news", TEXT)) == ["local news"]
    assert clue_mentions(TEXT, [("winning", "our", "local")]) == []
    assert read_clue("reality redefine", "reality, [Term] redefine") == []


def test_places_are_joined_and_lie_outside_of_mentions():
    start = TEXT.index("Orion")
    known = [Mention(start, start + 5, "Product", "Orion", "Orion")]
    clues = [
        ("local", "news"),
        ("news", "app"),
        ("grew",),
        ("best", "friend"),
        ("orion", "'s", "turbo"),
    ]
    found = clue_mentions(TEXT, clues, known)
    # "s" of a possessive is no word; news and app are one place with "grew" behind
    assert [m.surface for m in found] == ["local news app grew", "best friend", "turbo"]
    assert [m.entity for m in found] == ["local news app grew", "best friend", "turbo"]
    assert {m.category for m in found} == {"Clue"}
    assert clue_mentions(TEXT, [("orion",)], known) == []


def test_terms_that_a_clue_touches_are_part_of_it():
    text = "Our power tools segment sells ladders, ladders and power cords."
    spans = {"power tools": "Term", "sells": "Product", "ladders": "Term", "cords": "Term"}
    known = [
        Mention(text.index(s), text.index(s) + len(s), category, s, s)
        for s, category in spans.items()
    ]
    found = clue_mentions(text, [("tool", "segment", "sell"), ("power",)], known)
    assert [m.surface for m in found] == ["power tools segment", "power cords"]
    # terms by themselves are no clues, side by side or not
    assert clue_mentions("Ladders cords.", [("power",)], [
        Mention(0, 7, "Term", "Ladders", "ladders"), Mention(8, 13, "Term", "cords", "cords"),
    ]) == []  # fmt: skip


WORDS = st.sampled_from(
    ["cement", "kiln", "of", "the", "[Term]", "news.", "24", "grew,", "Acme", "it's", "\n\n"]
)


# a mention of nothing but the space between two words parts them all the same
@example("kiln cement", ["kiln cement"], 4, 1)
@given(
    st.lists(WORDS, max_size=30).map(" ".join),
    st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), max_size=5),
    st.integers(0, 60),
    st.integers(1, 8),
)
def test_places_are_disjoint_and_true(text, clues, start, length):
    blocked = [Mention(start, min(len(text), start + length), "Person", "", "")]
    told = {clue.words for given in clues for clue in read_clue(given, text)}
    found = clue_mentions(text, told, blocked)
    for m in found:
        assert m.surface == text[m.start : m.end].strip() != ""
        assert "[" not in m.surface
        assert m.end <= blocked[0].start or m.start >= blocked[0].end
    assert all(a.end < b.start for a, b in pairwise(found))
    # without mentions every clue that the text has is covered wherever it stands
    everywhere = clue_mentions(text, told)
    for words in told:
        (alone,) = [clue_mentions(text, [words])]
        assert alone
        for m in alone:
            assert any(k.start <= m.start and m.end <= k.end for k in everywhere)
    # and once it is blanked, nothing is left
    shown = text
    for m in reversed(everywhere):
        shown = shown[: m.start] + "[Term]" + shown[m.end :]
    assert clue_mentions(shown, told) == []


@pytest.mark.parametrize(
    ("clue", "text"),
    [
        ("craftsman", "Our craftsmen."), ("children", "No child."), ("criterion", "All criteria."),
        ("matrices", "A matrix."), ("quiz", "Two quizzes."), ("woman", "Women."),
        ("feet", "A foot."),
    ],
)  # fmt: skip
def test_plurals_that_no_rule_makes(clue, text):
    (found,) = clue_mentions(text, [c.words for c in read_clue(clue, text)])
    assert found.surface.casefold() in text.casefold()
    other = text.strip(".").split()[-1].lower()
    assert may_give([other], set(barred_by(found.entity))) == set()


def test_codes_are_barred_however_long_they_are():
    assert may_give(["MOSFETs", "MOSFET", "kilns"], set(barred_by("silicon mosfet"))) == {"kilns"}


def test_white_space_of_any_length_parts_no_clue():
    text = "ready" + " " * 40 + "mix\nsold. ready\n \nmix"
    (found,) = clue_mentions(text, [("ready", "mix")])
    assert found.start == 0 and found.surface.endswith("mix")


def test_a_word_that_is_cut_off_is_another():
    assert clue_mentions("We won a bid. We won't wait.", [("won",)])[0].surface == "won"
    assert len(clue_mentions("We won a bid. We won't wait.", [("won",)])) == 1
    assert read_clues(["won"], "We won't wait.") == []
    assert [m.surface for m in clue_mentions("We can't stop.", [("can", "'t", "stop")])] == [
        "can't stop"
    ]


def test_no_clue_stands_in_a_placeholder():
    assert read_clues(["company"], "[Company Name] grew.") == []
    assert clue_mentions("[Company Name] grew.", [("company",), ()]) == []


def test_clues_that_are_looked_for_in_many_texts():
    everywhere = Clues([("kiln",), ("ready", "mix"), ("ready",)])
    here = Clues([("grew",), ("ready", "mix")], besides=everywhere)
    assert [m.surface for m in clue_mentions("Kilns, ready.", everywhere)] == ["Kilns", "ready"]
    assert [m.surface for m in clue_mentions("Kilns grew, ready-mix.", here)] == [
        "Kilns grew", "ready-mix",
    ]  # fmt: skip
    assert (bool(here), bool(Clues(())), bool(Clues((), besides=everywhere))) == (True, False, True)


def test_names_that_hold_what_was_blanked():
    names = ["King Air", "King Air 350", "Air Canada", "Galleri", "Kings", "Ready Mix Co"]
    clues = {"a": ["king air turboprop", "galleri test"], "b": ["ready mix"], "c": []}
    assert names_barred(names, clues) == {
        "a": {"King Air", "King Air 350", "Kings", "Air Canada", "Galleri"},
        "b": {"Ready Mix Co"},
        "c": set(),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("clue", "name"),
    [
        ("AT&T", "AT&T Mobility"), ("Just do it", "Just Do It"), ("Vitamin A", "Vitamin A"),
        ("King Air", "KingAir"), ("FedEx", "Fed Ex"), ("Galaxy phones", "Galaxy"),
    ],
)  # fmt: skip
def test_names_that_hold_a_clue_in_another_writing(clue, name):
    text = f"Of {clue} we sell more."
    (found,) = clue_mentions(text, [c.words for c in read_clue(clue, text)][:1])
    assert names_barred([name, "Vega"], {"a": [found.entity]})["a"] == {name}


def test_many_placeholders_cost_no_more():
    text = "We sell ready mix, says [Executive 1]. " * 300
    assert len(clue_mentions(text, [("ready", "mix"), ("executive",)])) == 300


def test_a_number_of_two_words_goes_as_a_whole():
    found = clue_mentions(
        "In week forty-six we ran, twenty-first of all.", [("forty",), ("first",)]
    )
    assert [m.surface for m in found] == ["forty-six", "first"]


def test_of_a_compound_no_particle_stays():
    text = "Sell-through rose, a so-called bolt-on. Non-gap, office-based, best-in-class, two-ply."
    clues = [("sell",), ("called",), ("bolt",), ("gap",), ("office",), ("class",), ("ply",)]
    whole, parts = ["Sell-through", "so-called bolt-on"], ["gap", "office", "class", "ply"]
    assert [m.surface for m in clue_mentions(text, clues)] == whole + parts
    for text, word in (("co-chairman", "co"), ("stand-alone", "alone")):
        (whole_one,) = clue_mentions(f"Our {text} basis.", [(word,)])
        assert whole_one.surface == text


def test_notes_of_who_wrote_it_down_go_whole():
    # "<[Term]>" stood in a release
    text = "The <unk> regions, and <foreign language>, uh, are well; 3 < 4 kilns > 2."
    found = clue_mentions(text, [("unk",), ("language",), ("kiln",)])
    assert [m.surface for m in found] == ["<unk>", "<foreign language>", "kilns"]
