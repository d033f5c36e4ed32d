"""Whether a text is in the language that the rules and the recogniser know: English."""

from __future__ import annotations

import re
from collections import Counter

from nes_spark.text.normalizing import normalize
from nes_spark.text.sentences import word_set

#: Below this share of known words a text is hardly English: English prose has .40 to .60 whatever
#: it is about, notes in telegraphic style and lists of drugs .25 and more; other languages share a
#: few words with it (at most .12 in some 600 texts of 108 languages).
KNOWN_SHARE = 0.2

#: The grammatical and most frequent words of English. Words that are frequent in another European
#: language too ("die", "in", "on", "as", "a", "no") are left out.
_KNOWN = word_set(
    "the and of to is that for it with are be this from have has had was were been being by they "
    "their them there these those then than which what when where who whom whose why how we our "
    "ours us you your yours he she his its it's i'm i've i'd i'll we're we've we'll we'd you're "
    "you've they're they've that's there's here's let's don't doesn't didn't isn't aren't wasn't "
    "weren't won't wouldn't can't couldn't shouldn't haven't hasn't not but or if because while "
    "although though however therefore about after again against all also always any another "
    "around away back because before between both can could did does doing done down during each "
    "even ever every few first following further get gets getting give given go goes going good "
    "got great here high higher into just know last least less let like little long look looking "
    "made make makes making many may maybe might more most much must need needs never new next "
    "now off often only other others out over own part people per put quite rather really right "
    "said same say says see seen should since some something still such sure take taken takes "
    "tell thank thanks think this through time today together too two under until up upon use "
    "used using very want wants way well went will within without work would year years yet "
    "years' quarter growth sales business market customers results company continue continued "
    "expect increase increased during including strong well patient patients history left right "
    "showed shows found court shall case whether invention method comprising wherein claim "
    "according method said device system data process three four five six seven eight nine ten "
    "hundred million billion thousand percent morning afternoon everyone please question yes "
    "hello"
)
#: A shorter text is not called foreign: notes and headlines have little grammar.
_LEAST_WORDS = 30

#: No letters beside figures: "40mg", "B570760".
_LETTERS = re.compile(r"[^\W\d_](?<![^\W_].)[^\W\d_]*(?:['’][^\W\d_]+)?(?![^\W_])")
#: So many words without a capital, and this share of all, must be there to tell by themselves.
_SMALL_WORDS, _SMALL_SHARE = 5, 0.1
#: Letters of the scripts that write without spaces, one of which counts as a word.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)


def known_share(text: str) -> float | None:
    """Return the share of a text's words that are grammatical or frequent words of English.

    Other words with a capital letter do not count, where enough are without: names and
    abbreviations say nothing about the language around them.

    Parameters
    ----------
    text : str
        Any text. Of a long one the first 20,000 characters count.

    Returns
    -------
    float or None
        In [0, 1]; None for a text without any word.

    Examples
    --------
    >>> known_share("We think that this was a good year.")
    0.875
    >>> known_share("1 2 3") is None
    True
    """
    plain = normalize(text[:20_000]).text
    if not plain.isascii():
        plain = _UNSPACED.sub(" x ", plain).replace("’", "'")
    words = _LETTERS.findall(plain)
    known = named = small = 0
    for word, count in Counter(words).items():
        capital = word[0].isupper()
        if word.lower() in _KNOWN:
            known += count
        elif capital:
            named += count
        if not capital:
            small += count
    if small >= max(_SMALL_WORDS, _SMALL_SHARE * len(words)):
        return known / (len(words) - named)
    return known / len(words) if words else None


def speaks_english(text: str) -> bool:
    """Whether a text is in a language that the recogniser knows; one without words counts as such.

    See :data:`KNOWN_SHARE`.
    """
    share = known_share(text)
    return share is None or share >= KNOWN_SHARE


def is_foreign(text: str, share: float | None) -> bool:
    """Whether a text of this :func:`known_share` is no English, and long enough to tell."""
    return share is not None and share < KNOWN_SHARE and len(text.split()) >= _LEAST_WORDS


__all__ = ["KNOWN_SHARE", "is_foreign", "known_share", "speaks_english"]
