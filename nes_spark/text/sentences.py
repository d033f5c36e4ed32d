"""Sentence boundaries in written and transcribed English.

A rule-based splitter in one pass over the text. It needs no model, so that chunk boundaries depend
on nothing but the text and the embedding, and it keeps offsets: the spans tile the document.
"""

from __future__ import annotations

import re

#: Longer "sentences" are cut: a text without punctuation must not become one giant sentence.
MAX_WORDS = 120
#: The same for characters, which also cuts a token without any white space.
MAX_CHARACTERS = 2_000


def word_set(words: str) -> frozenset[str]:
    """Return the words of a string as a set; keeps word lists readable."""
    return frozenset(words.split())


#: Never end a sentence: a name or a number follows.
_OPENING = word_set(
    "mr mrs ms mx dr prof rev hon st mt ft gen col capt lt sgt sen rep gov pres messrs mme mlle "
    "vs v cf e.g i.e eg ie viz al no nos nr art fig figs eq sec ch vol pp p approx ca est resp "
    "incl excl avg max min dept univ assn"
)
#: May end a sentence or stand inside one: they end it before a word that starts sentences.
_EITHER = word_set(
    "inc corp co ltd llc plc lp llp l.p s.a s.a.s s.p.a n.v b.v a.g a/s bros jr sr esq ph.d m.d "
    "u.s u.s.a u.k u.n e.u d.c a.m p.m etc jan feb mar apr jun jul aug sep sept oct nov dec ave "
    "blvd rd bn mn mm tn m k yr yrs hr hrs sq"
)
_STARTERS = word_set(
    "The This That These Those There They Then Their We We're We've We'll We'd Our Ours I I'm "
    "I've I'll I'd It It's Its He She His Her You Your In On At As And But So For From If To "
    "With When While What Where Which Who Why How After Before During Despite Although Though "
    "Because Since Also Additionally Now Next Finally First Second Third Lastly Turning Looking "
    "Moving Let Let's Please Thank Thanks Today Good Great Okay OK Yes No Not Well However "
    "Overall By Over Under Within Both All Each Some Many Most Any Is Are Was Were Do Does Did "
    "Can Could Should Would Will Here Net Total Again Once Of Hello Hi Welcome Regarding "
    "Excluding Including"
)

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*(?=\S)")
# A run of end marks with what closes behind it, then white space, which belongs to the sentence
# that it ends. The lookbehind keeps long runs of marks linear.
_BOUNDARY = re.compile(
    r"""(?P<paragraph>\n[^\S\n]*\n\s*)|(?<![.!?…。！？])[.!?…。！？]+["'”’»)\]]*\s+"""
)
_LAST_TOKEN = re.compile(r"""[^\s"'“”‘’«»()\[\]]+$""")
_NEXT_TOKEN = re.compile(r"""["'“‘«(\[]*([^\s,;:!?"”)\]]+)""")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]$")
_SPACE = re.compile(r"\s+")


def _ends_sentence(text: str, begin: int, match: re.Match[str], cased: bool) -> bool:
    """Whether the end marks of `match` close a sentence that begins at `begin`."""
    following = _NEXT_TOKEN.match(text, match.end())
    if following is None:
        return True
    word = following.group(1)
    first = word[0]
    if cased and first.islower():
        return False
    if text[match.start()] != "." or text.startswith("..", match.start()):
        return True
    # Only the tail is looked at: a slice of the whole sentence would cost quadratic time.
    previous = _LAST_TOKEN.search(text[max(begin, match.start() - 40) : match.start()])
    if previous is None:
        return True
    token = previous.group()
    lowered = token.lower()
    if lowered in _OPENING and not (len(token) == 1 and token.isupper()):
        # "No." before a digit is "number", before a word it is an answer.
        return lowered in ("no", "est", "max", "min", "art", "p", "v") and not first.isdigit()
    ambiguous = lowered in _EITHER and not (lowered in ("m", "k", "mar", "dec") and token.islower())
    if ambiguous or (_INITIALS.match(token) and token[0].isupper() and token != "I"):
        return word.rstrip(".") in _STARTERS
    return True


def capped(text: str, start: int, end: int, max_words: int = MAX_WORDS) -> list[tuple[int, int]]:
    """Cut ``[start, end)`` into pieces within the limits, at a comma or space if there is one.

    A space before a capital letter or a figure, or behind a figure, may be inside a name, a date or
    an amount: another one of the second half of a piece is taken where there is one.
    """
    if end - start <= MAX_CHARACTERS and len(text[start:end].split()) <= max_words:
        return [(start, end)]
    pieces = []
    while start < end:
        stop, words, comma, space, inside = end, 0, -1, -1, -1
        for gap in _SPACE.finditer(text, start, min(end, start + MAX_CHARACTERS + 1)):
            if gap.start() == start or gap.end() >= end:
                continue
            words += 1
            inside = gap.end()
            last, first = text[gap.start() - 1], text[gap.end()]
            if words >= max_words // 2 and last in ",;:":
                comma = gap.end()
            if words >= max_words // 2 and not (
                last.isdigit() or first.isdigit() or first.isupper()
            ):
                space = gap.end()
            if words == max_words:
                break
        if words == max_words or end - start > MAX_CHARACTERS:
            stop = next((place for place in (comma, space, inside) if place >= 0), -1)
            if stop < 0:
                stop = min(end, start + MAX_CHARACTERS)
        pieces.append((start, stop))
        start = stop
    return pieces


def split_sentences(text: str, cased: bool | None = None) -> list[tuple[int, int]]:
    """Return the sentences of a text as spans that tile it.

    Parameters
    ----------
    text : str
        Any text; line breaks inside a paragraph are white space, an empty line ends a sentence.
    cased : bool, optional
        Whether capital letters tell anything; looked up in the text when omitted. For a part of a
        longer text, of which this is known.

    Returns
    -------
    list of (int, int)
        Half-open offsets in code points. The first span starts at 0, each next one where the one
        before ends, the last one ends at ``len(text)``: white space belongs to the sentence before
        it. Empty for an empty text. No span has more than :data:`MAX_WORDS` words or
        :data:`MAX_CHARACTERS` characters. Time is linear in the length of the text.

    Notes
    -----
    A full stop does not end a sentence after a title or an abbreviation ("Mr.", "Inc.", "U.S.") or
    an initial, unless a word follows that commonly starts sentences, and no mark ends one before a
    lower-case letter (except in a text without any capital letter). Decimal points have no white
    space behind them and are never candidates.

    Examples
    --------
    >>> text = "Acme Inc. sold $4.2 billion in the U.S. last year. <inaudible> Thanks."
    >>> [text[a:b] for a, b in split_sentences(text)]
    ['Acme Inc. sold $4.2 billion in the U.S. last year. ', '<inaudible> Thanks.']
    """
    if not text:
        return []
    cased = not text.islower() if cased is None else cased
    lead = len(text) - len(text.lstrip())
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match.end() >= len(text):
            break
        if match.start() < lead:
            continue
        # White space behind a mark may hold an empty line, which always ends a sentence.
        if (
            match.lastgroup == "paragraph"
            or match.group().count("\n") > 1
            or _ends_sentence(text, start, match, cased)
        ):
            spans.extend(capped(text, start, match.end()))
            start = match.end()
    spans.extend(capped(text, start, len(text)))
    return spans


def paragraph_starts(text: str) -> list[int]:
    """Return where the paragraphs of a text begin, the first at 0.

    The sentences of what stands before such a place and of what stands behind it are those of the
    whole text.

    Examples
    --------
    >>> paragraph_starts("Good morning.\\nThanks.\\n\\nSales rose.")
    [0, 23]
    """
    lead = len(text) - len(text.lstrip())
    return [0, *(m.end() for m in _PARAGRAPH.finditer(text) if m.start() >= lead)]


#: What a speaker fills a pause with.
FILLERS = ("uh", "um", "er", "ah", "mm", "hmm")
_BETWEEN_WORDS = tuple(f" {word}{mark}" for word in FILLERS for mark in " ,")


def has_filler(text: str) -> bool:
    """Whether a text may have a word that fills a pause ("uh") between others: few have.

    Examples
    --------
    >>> has_filler("Sales, um, rose."), has_filler("Sales rose.")
    (True, False)
    """
    low = text.lower()
    return any(word in low for word in _BETWEEN_WORDS)
