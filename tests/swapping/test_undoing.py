"""Names, dates, quantities and terms of one text, replaced together, come back byte for byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nes_spark.entities.dates import find_dates
from nes_spark.entities.mentions import Mention
from nes_spark.entities.quantities import quantity_mentions
from nes_spark.entities.terms import term_mentions
from nes_spark.swapping import apply_edits, invert_edits, rewrite_text
from nes_spark.swapping.dates import Shift, date_replacements
from nes_spark.swapping.forms import entity_of
from nes_spark.swapping.parts import as_written
from nes_spark.swapping.rewriting import Replacement, in_place_of

PEOPLE = ["Ada Quill", "Ivo Marsh-Tarn", "Una O'Neil", "東京 太郎"]
PIECES = [
    *PEOPLE, "Ada", "Quill's", "a cement", "Cement", "an oil", "wells", "[Company Name]", "😀",
    "e\u0301tude", "grew 12%", "$3.4 million", "(5.1) million euros", "40 stores", "in May 2020",
    "Q3", "third quarter of fiscal 2020", "last year", "June 30th,", "early 202", "said.", "\n\n",
]  # fmt: skip
NEW = {
    "Person": ["Odd Fjell", "Maria de la Cruz Jr.", "Xu"],
    "Quantity": ["7 bps (points/e+0/0)", "$12 billion (money/e+10/0)"],
    "Term": ["mattress/mass", "oils", "x-ray", "arid/adjective"],
}


def mentions_of(text: str) -> list[Mention]:
    found = []
    for name in PEOPLE:
        at = text.find(name)
        while at >= 0:
            found.append(Mention(at, at + len(name), "Person", name, name))
            at = text.find(name, at + len(name))
    found += [Mention(s, e, "Date", text[s:e], text[s:e]) for s, e in find_dates(text)]
    found += quantity_mentions(text)
    return found + term_mentions(text, ["cement", "oil", "wells"], found)


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.integers(-900, 900), st.data())
def test_all_of_it_is_undone(pieces, days, data):
    text = " ".join(pieces)
    mentions = mentions_of(text)
    new = date_replacements(mentions, Shift(days))
    for mention in mentions:
        names = NEW.get(mention.category)
        if names:
            name = data.draw(st.sampled_from(names))
            written = (as_written(name, mention.category),)
            new[mention.category, entity_of(mention)] = Replacement(name, written)
    done = rewrite_text(text, mentions, new)
    assert invert_edits(done.text, done.edits) == text
    assert apply_edits(text, done.edits) == done.text
    # what tells a likeness is for the sampler, not for readers
    assert "/e+" not in done.text and "/adj" not in done.text and "/mass" not in done.text
    for mention in done.mentions:
        assert done.text[mention.start : mention.end] == mention.surface


@given(st.text(min_size=1), st.text())
def test_whole_texts_are_undone(text, new):
    done = in_place_of(text, new)
    assert done.text == new
    assert invert_edits(new, done.edits) == text
