"""Words that set a document apart although they are no names.

Who knows what a company makes finds its call by "cement" or "mattress", whatever became of the
names. The *terms* of a document are the words in it with the highest TF-IDF against the other
documents,

    log(1 + n) log((1 + N) / (1 + df)),

where n counts the word in the document, df the secrets (companies) whose documents have it and N
all secrets (after Salton & Buckley, "Term-weighting approaches in automatic text retrieval", 1988,
whose 1 + log n puts a word that slipped in once above the words that a call is about).
Singular and plural are one word there (:func:`stem`): who looks for "wells" finds "well" too. A
word in capitals is a term like any other (RFID). Names of peoples ("Chinese") are terms of whatever
document has them: they are no names, and read well in each other's place alone. Words of grammar,
placeholders, and what lies in a mention of another category are left alone; so are adverbs,
participles, words of accounts ("diluted"), words that the corpus uses as verbs
(:func:`is_verbal`) and those that most secrets' documents have: no outsider looks for them, and a
sentence bears another noun better than another verb.

One term takes the place of another of its grammatical form, as far as endings tell, and near it
in meaning (:func:`form_of`, :class:`TermSimilarity`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.distinctive import DEMONYMS, FUNCTION_WORDS
from nes_spark.entities.lists import GENERAL, read_lists
from nes_spark.entities.mentions import Mention, placeholder_spans
from nes_spark.text.sentences import word_set

#: Category of terms.
TERM = "Term"
#: Names of peoples that are not names of places as well.
PEOPLES = DEMONYMS - {"caribbean"}
#: A word that may be a term: letters, and hyphens inside (e-vapor too).
_WORD = re.compile(
    r"(?<![\w'’-])(?:[^\W\d_]{3,}(?:-[^\W\d_]{2,})*|[^\W\d_]-[^\W\d_]{3,})(?![\w]|[-’'][^\W\d_])"
)
_CURRENCIES = frozenset(read_lists(GENERAL)["CURRENCIES"])
#: Letters and digits in capitals, the plural's s aside: RFID, MOBs, 5G, CD30; no amounts (26M).
_CAPITALS = re.compile(
    r"(?<![\w'’.$€£-])(?:[A-Z][A-Z0-9]+|[2-9]G)(?:-[A-Z0-9]+)*s?(?!\w|[-’'][^\W\d_]|[.,]\d)"
)
#: Words of grammar and of talk that tell nothing about a subject.
_NEVER = FUNCTION_WORDS | word_set(
    "been being got get gets getting going gone goes go make makes made making take takes took "
    "taken taking come comes came coming say says said see sees saw seen seeing know knows knew "
    "known think thinks thought want wants wanted need needs needed thank thanks welcome good "
    "great morning afternoon evening everyone everybody anyone anybody really actually basically "
    "kind sort lot lots bit little way ways thing things time times year years month months week "
    "weeks day days quarter quarters today tonight first second third fourth half don didn doesn "
    "isn aren wasn weren won wouldn couldn shouldn hasn haven hadn let lets okay well let's uh um "
    "gonna wanna gotta nonetheless regardless"
)
#: Words of accounts, and of meetings about them, in whatever trade: nobody looks for them, and they
#: rarely read well in each other's place.
_REPORTING = word_set(
    "accretive amortization annualized annualised baseline broad-based buyback cagr capex cashflow "
    "comp comps conference conjunction consensus constant contraction covenant currency deferral "
    "depreciation diluted dilution discretionary divestiture dso ebit ebitda elevated eps euro "
    "ffo fiscal forward-looking fx gaap gentlemen gross guidance headwind headwinds impairment "
    "incredible inorganic ladies lady late like-for-like long-term ltm minus moment near-term noi "
    "non non-gaap onset one-time organic outlook page percent playbook pre-tax pretax "
    "quarter-over-quarter realignment rebound reconciliation recurring reinvestment relative "
    "replay representative restructuring roe same-store scenario sell-through senior sequential "
    "session sg short-term slide specific stakeholder standpoint synergy synergies tailwind "
    "tailwinds timing transcript underlying unfavorable unfavourable weighted year-over-year "
    "year-to-date ytd"
)
#: Plural -> singular, the first that fits; and words that only look like plurals.
_PLURALS = (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("s", ""))
_SINGULAR = ("ss", "us", "is")
#: What stands before a verb.
_BEFORE_VERBS = word_set(
    "to will would can could may might must should shall not please let let's don't didn't doesn't "
    "won't can't i we you they he she who"
)
_LAST_WORD = re.compile(r"([\w'’]+)\s*$")
#: A word that stands so often, or more, where verbs stand is no term; nor is one that the documents
#: of more than so many secrets have.
_VERBAL, _COMMON = 0.3, 0.5
#: Participles name nothing that is made or sold; what ends in -ing must be said so often to be a
#: thing (drilling, packaging), and a word that is said once must be said nowhere else.
_PARTICIPLE = re.compile(r"(?:\w+-)?\w{2,}[^e]ed")
_LEAST_GERUND, _LEAST = 3, 2
#: Adverbs name nothing.
_ADVERB = re.compile(r"\w{2,}(?:al|ab|ib|c?t|ed|ous|iv|iou|nd|in|ck|ar|ul|th)e?ly")
#: Endings of adjectives: "incredible excellence" is no noun's place.
_ADJECTIVE = re.compile(r"\w{2,}(?:ful|able|ible|ous|ive|ic|less|onal|ural|ical|ary|ish)")
_ENDINGS = ("ing", "ed", "ly", "er", "est", "ies", "ses", "s")


def term_places(text: str, mentions: Iterable[Mention] = ()) -> list[tuple[int, int, str]]:
    """Return where words stand that may be terms: start, end and the word.

    The word is in lower case, unless it is written in capitals or the name of a people.

    Parameters
    ----------
    text : str
    mentions : iterable of Mention
        Nothing is found inside them, nor inside placeholders.

    Examples
    --------
    >>> [word for *_, word in term_places("Cement and RFID tags of [Company Name] sold well.")]
    ['cement', 'RFID', 'tags', 'sold']
    """
    blocked = sorted([*((m.start, m.end) for m in mentions), *placeholder_spans(text)])
    out = []
    for match in _WORD.finditer(text):
        word = match.group()
        low = word.lower()
        # with capitals inside it is a name, or part of one; a sentence may begin with a term
        if (
            low in _NEVER
            or low in _REPORTING
            or _ADVERB.fullmatch(low)
            or len(low) != len(word)
            or word[1:] != low[1:]
        ):
            continue
        out.append((match.start(), match.end(), word if is_people(word) else low))
    out += [
        (*match.span(), match.group())
        for match in _CAPITALS.finditer(text)
        if (match.group().rstrip("0123456789") not in _CURRENCIES or match.group().isalpha())
        and match.group().lower() not in _REPORTING
    ]
    free, at = [], 0
    for start, end, word in sorted(out):
        while at < len(blocked) and blocked[at][1] <= start:
            at += 1
        if at == len(blocked) or blocked[at][0] >= end:
            free.append((start, end, word))
    return free


def is_verbal(text: str, start: int) -> bool:
    """Whether the word that starts there stands where verbs stand: after "to", "we", "will".

    Examples
    --------
    >>> text = "We sell tires to sell more."
    >>> [is_verbal(text, text.index(word)) for word in ("sell", "tires", "more")]
    [True, False, False]
    """
    before = _LAST_WORD.search(text, max(0, start - 20), start)
    return before is not None and before[1].lower().replace("’", "'") in _BEFORE_VERBS


def in_capitals(word: str) -> bool:
    """Whether a term is written in capitals, the plural's s aside."""
    return word[:2].isupper() or word[1:2].isupper()


def is_people(word: str) -> bool:
    """Whether a word is the name of a people, or what belongs to one.

    Examples
    --------
    >>> [is_people(w) for w in ("Chinese", "Americans", "China", "polish")]
    [True, True, False, False]
    """
    low = word.lower()
    return word[:1].isupper() and (low in PEOPLES or low.removesuffix("s") in PEOPLES)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return what the singular and the plural of a word share.

    Examples
    --------
    >>> [stem(w) for w in ("wells", "batteries", "boxes", "glass", "MOBs", "gas", "leases")]
    ['well', 'battery', 'box', 'glass', 'MOB', 'gas', 'lease']
    """
    if in_capitals(word):
        return word.removesuffix("s")
    if len(word) > 3 and not word.endswith(_SINGULAR):
        for ending, singular in _PLURALS:
            if word.endswith(ending) and len(word) > len(ending) + 1:
                return word[: -len(ending)] + singular
    return word


def weight(count: int, documents: int, total: int) -> float:
    """Return the TF-IDF of a word that occurs ``count`` times in a document.

    Parameters
    ----------
    count : int
        From 1.
    documents : int
        Secrets whose documents have the word.
    total : int
        All secrets.
    """
    return math.log1p(count) * math.log((1.0 + total) / (1.0 + documents))


def terms_of(
    counts: Mapping[str, int],
    documents: Mapping[str, int],
    total: int,
    most: int,
    verbal: Mapping[str, float] | None = None,
) -> list[str]:
    """Return the terms of one document, the highest TF-IDF first; equal ones by the alphabet.

    Parameters
    ----------
    counts : mapping of str to int
        Word -> how often the document has it; a word stands for its plural too (:func:`stem`).
    documents : mapping of str to int
        Word -> secrets whose documents have it.
    total : int
        All secrets.
    most : int
        So many terms at most, beside the names of peoples. A word that more than half of the
        secrets' documents have is none, unless these are two; nor is a participle, a rare word in
        -ing, or what is said once here and elsewhere too.
    verbal : mapping of str to float, optional
        Word -> share of its places in the corpus in which it stands like a verb
        (:func:`is_verbal`).

    Examples
    --------
    >>> terms_of({"cement": 9, "sales": 30, "kiln": 2}, {"cement": 1, "sales": 5, "kiln": 1}, 5, 2)
    ['cement', 'kiln']
    """
    share, common = verbal or {}, max(1.0, _COMMON * total)

    def names_something(word: str, n: int) -> bool:
        if documents[word] > common or share.get(word, 0.0) >= _VERBAL:
            return False
        if in_capitals(word):
            return True
        if _PARTICIPLE.fullmatch(word):
            return False
        # what nobody else says needs to be said less often
        least = (_LEAST_GERUND if word.endswith("ing") else _LEAST) - (documents[word] == 1)
        return n >= least

    weighed = sorted(
        (-weight(n, documents[word], total), word)
        for word, n in counts.items()
        if is_people(word) or names_something(word, n)
    )
    peoples = [word for _, word in weighed if is_people(word)]
    others = [(value, word) for value, word in weighed if not is_people(word)]
    return [word for value, word in others[:most] if value < 0] + peoples


def term_mentions(
    text: str, terms: Iterable[str], mentions: Iterable[Mention] = (), category: str = TERM
) -> list[Mention]:
    """Return the places of a document's terms in a text as mentions; the entity is the word.

    ``terms`` are words as :func:`terms_of` gives them.
    """
    known = frozenset(terms)
    return [
        Mention(start, end, category, text[start:end], word)
        for start, end, word in term_places(text, mentions)
        if stem(word) in known
    ]


@lru_cache(maxsize=65_536)
def form_of(term: str) -> str:
    """Return what tells the grammatical form of a term: an ending, 'adjective', 'people', 'CAPS'.

    '' where nothing does.

    Examples
    --------
    >>> [form_of(t) for t in ("mattresses", "cement", "drilling", "glass", "batteries")]
    ['s', '', 'ing', '', 's']
    """
    if is_people(term):
        return "people"
    if in_capitals(term):
        return "CAPS" + "s" * term.endswith("s")
    for ending in _ENDINGS:
        if term.endswith(ending) and len(term) > len(ending) + 2:
            if ending == "s" and term.endswith(("ss", "us", "is")):
                continue
            return "s" if ending in ("ies", "ses") else ending
    return "adjective" if _ADJECTIVE.fullmatch(term) else ""


class TermSimilarity:
    """How well one term stands in the place of another.

    Parameters
    ----------
    embed : callable
        ``list[str] -> (n, d)`` unit vectors; see :func:`nes_spark.embedding.load_embedder`.

    Notes
    -----
    Half the agreement of the endings (:func:`form_of`), half the cosine: from -.5 to 1. Cosines are
    taken on a grid of 2^-20, so that the order of additions in a dot product decides nothing.
    """

    def __init__(self, embed: Callable[[Sequence[str]], np.ndarray]) -> None:
        self._embed = embed
        self._vectors: dict[str, np.ndarray] = {}

    def learn(self, terms: Iterable[str]) -> None:
        """Embed terms that will be compared, all at once."""
        new = sorted({t for t in terms if t not in self._vectors})
        if new:
            if len(self._vectors) > 50_000:
                self._vectors.clear()
            self._vectors.update(zip(new, self._embed(new), strict=True))

    def __call__(self, first: str, second: str) -> float:
        """Return the similarity of two terms; symmetric."""
        return float(self.table([first], [second])[0, 0])

    def table(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Return all similarities of two lists of terms, shape (len(first), len(second))."""
        self.learn((*first, *second))
        ours, theirs = (np.array([self._vectors[t] for t in terms]) for terms in (first, second))
        # each product by itself: the same cosine in whatever company
        cosine = np.einsum("id,jd->ij", ours.astype(np.float64), theirs.astype(np.float64))
        forms = np.array([[form_of(a) == form_of(b) for b in second] for a in first])
        return 0.5 * forms + 0.5 * (np.round(cosine * 2**20) / 2**20)
