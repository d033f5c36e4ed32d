"""Written forms of names: what is told before cleanco is asked is what cleanco would say."""

import pytest
from cleanco import basename, prepare_default_terms
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.config.sections import METADATA_KIND
from nes_spark.text import forms, suppress
from nes_spark.text.matching import Identifier, Matcher
from nes_spark.text.vocabulary import NICKNAMES

LEGAL = sorted({" ".join(term) for _, term in prepare_default_terms()})
#: How a legal form may be written behind a name.
WRITTEN = (
    "Acme {0}", "ACME {0}.", "Acme, {0}", "Acme - {0} !", "The Acme-{0} (UK) {0}", "Acme {0} Works",
    "Acme{0}", "Éclair {0}", "Acme\n{0}\n", "{0}", "{0} Acme", "Acme x{0}",
)  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN)
def test_names_lose_their_legal_form_as_cleanco_has_it(written):
    names = [written.format(shown) for term in LEGAL for shown in (term, term.upper())]
    names += [written.format(". ".join(term) + ".") for term in LEGAL if term.isalpha()]
    with pytest.MonkeyPatch.context() as patch:
        found = [forms._without_legal(name) for name in names]
        # asked about every name
        patch.setattr(forms, "_legal_ends", lambda: _Everything())
        assert found == [forms._without_legal(name) for name in names]


def test_cleanco_is_asked_only_where_a_name_may_end_in_a_legal_form(monkeypatch):
    asked = []
    monkeypatch.setattr(forms, "basename", lambda name: asked.append(name) or basename(name))
    assert forms._without_legal("Foxglove Capital,") == "Foxglove Capital" and not asked
    assert forms._without_legal("Foxglove, Inc.") == "Foxglove" and asked == ["Foxglove, Inc."]
    assert forms._without_legal("Éclair") == "Éclair" and asked[1:] == ["Éclair"]


@pytest.mark.parametrize(
    "value, text, left",
    [
        # the last word is one of business, or none: "Northern [Company]'s" told half of it
        ("Northern Reach Aviation", "Northern Reach's manual. Northern Reach has it.", "X X"),
        ("First Light Minibuses", "It was First Light. They saw First Light come.", "X X"),
        ("Northern Reach Aviation", "We are within a northern reach of it.", ""),
        # two general words, or a place: said of anybody
        ("Great Western Aviation", "the Great Western line", ""),
        ("Central London County Court", "a flat in Central London", ""),
    ],
)
def test_a_general_word_and_one_that_says_more_stand_for_a_name(value, text, left):
    shown, found = suppress(text, [Identifier("company", value, "X")])
    assert " ".join(["X"] * len(found)) == left
    assert not found or not {"Northern", "First"} & set(shown.split())


class _Everything:
    def __contains__(self, word):
        return True


@pytest.mark.parametrize(
    "value",
    [
        "Acme Kilns Ltd. (d/b/a Potworks)",
        "Acme Kilns Ltd. dba Potworks",
        "Acme Kilns Ltd., trading as Potworks",
        "Acme Kilns Ltd. (formerly Potworks (Hull) Limited)",
        'Potworks Inc. f/k/a "Acme Kilns Ltd."',
    ],
)
def test_a_listed_company_goes_by_each_of_its_names(value):
    listed = [Identifier("company", value, "X")]
    text = "Acme Kilns Ltd. grew, Potworks paid, and Acme's kilns burn."
    assert suppress(text, listed)[0] == "X grew, X paid, and X's kilns burn."
    # words of other names
    other = [Identifier("company", "Trading Fords (Hull) Ltd", "X")]
    assert suppress("Trading Fords and Potworks", other)[0] == "X and Potworks"


def test_forms_are_owned_by_their_identifiers_and_whole_names_come_first():
    people = [Identifier("person", name, "[Executive #]") for name in ("Lee Roe", "Ann Lee")]
    known = [*people, Identifier("company", "Lee", "[Company Name]")]
    found = Matcher(known).forms.get("lee")
    assert [(f.owner, f.rule) for f in found] == [(2, "name"), (1, "part"), (0, "first")]
    # the next document has the same people in other places
    turned = Matcher(known[::-1]).forms
    assert [f.owner for f in turned.get("lee")] == [0, 1, 2]
    assert [(f.owner, f.rule) for f in Matcher(known).forms.get("lee")] == [
        (f.owner, f.rule) for f in found
    ]
    assert turned.get("lea") == () and "roe" in turned.spellings


def test_what_is_allowed_is_no_form_but_of_the_secret():
    known = [Identifier("person", "Ann Lee", "[E]"), Identifier(METADATA_KIND, "Lee", "[S]")]
    assert [f.owner for f in Matcher(known, allow=["LEE"]).forms.get("lee")] == [1]
    assert [f.owner for f in Matcher(known).forms.get("lee")] == [1, 0]


@given(st.lists(st.text("aZ é'-.&ßİ1", min_size=1, max_size=6), min_size=1, max_size=4))
def test_a_name_is_spelled_as_its_letters_are(words):
    for key, form in forms.person_forms(" ".join(words)):
        assert key == forms.squeeze(key) and form.n_words >= 1
        assert set(key) <= set(forms.squeeze(" ".join(words))) | set("".join(NICKNAMES))
