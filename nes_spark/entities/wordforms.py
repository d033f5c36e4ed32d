"""Parts of speech without a model: what a dictionary says of a form, and where texts have it.

A dictionary for spelling (the English one of hunspell, from SCOWL, with the package spylls) knows
how its words inflect, and that tells what they are: who has a possessive is a noun ("cancer's"),
whose -s, -ed and -ing are words is a verb, who has an -ly, -ness or -est an adjective
(:func:`kinds_of`). Where a dictionary allows several ("store", "clinical") the words around a
place decide (:meth:`Words.slot`, :func:`use_of`): after "the" and before "of" stands a noun, after
"will" or before "our" a verb, after "very" an adjective. Over all its places in a corpus a word is
what it is in most of them (:func:`stands_as_noun`, :func:`is_noun_too`, :func:`is_uncountable`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from nes_spark.entities.distinctive import FUNCTION_WORDS
from nes_spark.text.sentences import word_set

#: What a form can be.
Kind = Literal[
    "noun", "plural", "verb", "third", "gerund", "participle", "adjective", "degree", "adverb"
]
#: Where a word stands: after "the" with nothing to describe, after "the" and before a noun; else at
#: the end of a phrase, before "and" or a comma, before a preposition, before a noun, after "is" or
#: "very", where verbs do.
Slot = Literal["noun", "inside", "head", "joined", "open", "modifier", "predicate", "verb"]
#: As what a word is used there: ``either`` is a noun before a noun or a verb with an object
#: ("testing volumes"), '' anything but a noun or an adjective.
Use = Literal["noun", "adjective", "either", ""]
#: A form that stands less often as a noun, or before one, is no term.
LEAST_SHARE = 0.5
#: A singular that stands so often without an article needs none.
LEAST_BARE = 0.4
#: The same as LEAST_SHARE for forms of verbs, as in "drilling".
LEAST_OF_VERBS = 0.5

#: Kinds of what an ending makes, by its flag in the dictionary.
_MADE: dict[str, Kind] = {
    "G": "gerund", "D": "participle", "R": "degree", "T": "degree", "Y": "adverb", "Z": "plural",
    "J": "plural", "X": "plural", "N": "noun", "P": "noun", "L": "noun", "V": "adjective",
    "B": "adjective", "H": "adjective",
}  # fmt: skip
#: Flags that only adjectives have, as a rule: -ly, -ness, -est.
_GRADED = frozenset("YPT")
#: For words that the dictionary does not have: the first ending that fits.
_LIKELY: tuple[tuple[str, Kind], ...] = (
    ("(?:s|t)ion|ity|ment|ness|[ae]nce|[ae]ncy|ship|ism|[ao]tor|ology|graphy|itis", "noun"),
    (r"\w{2,}(?:[^aeiou]|ag)er", "noun"),
    ("ing", "gerund"),
    ("[^e]ed|ied", "participle"),
    ("ly", "adverb"),
    ("ful|able|ible|ous|ive|ic|less|al|ary|ish|ular|ant|ent", "adjective"),
    (r"\w(?<!s)(?<!u)(?<!i)s", "plural"),
)
_ENDINGS = tuple((re.compile(rf"\w{{2,}}(?:{endings})"), kind) for endings, kind in _LIKELY)

#: Plurals without an s, and past forms that are no regular ones.
_IRREGULAR = word_set(
    "children people men women feet teeth mice geese cattle police bacteria criteria phenomena "
    "alumni fungi stimuli media goods premises proceeds clothes"
)
_PAST = word_set(
    "arisen arose awoke awoken beat beaten became begun began bent bet bitten blew blown born "
    "borne bought bred broke broken brought built burnt came caught chose chosen clung cost crept "
    "cut dealt did done drank drawn dreamt drew driven drove drunk dug eaten ate fallen fed fell "
    "felt fled flew flown forbidden forgot forgotten fought found froze frozen gave given gone "
    "got gotten grew grown had heard held hid hidden hit hung hurt kept knew known laid lain lay "
    "led left lent let lit lost made meant met paid put ran read ridden risen rode rose said sang "
    "sat saw seen sent set sewn shaken shed shone shook shot shown shrank shrunk shut slept sold "
    "sought spent spoke spoken spread sprung stolen stood struck stuck sung swam swept swore "
    "sworn swung taken taught thought threw thrown told took tore torn undergone understood went "
    "woke won wore worn wove woven written wrote"
)
_DOUBLED = re.compile(r"(\w+(\w))\2(?:er|est)")
#: What makes other verbs of a verb.
_PREFIX = re.compile("(?:under|over|re|with|out|mis|un|fore|up|be)(?=...)")

_DETERMINERS = word_set(
    "a an the this that these those our your their its my his her each every some any no another "
    "both several many few all other such certain various"
)
_BEFORE_VERBS = word_set(
    "to will would can could may might must should shall not please let let's don't didn't doesn't "
    "won't can't cannot couldn't wouldn't i we you they he she who we'll they'll i'll you'll "
    "we'd i'd they'd did do does help helped helps"
)
#: "To" behind these leads to a thing: "turning to wholesale", "shifting over to tire brands".
_TOWARDS = word_set(
    "turn turns turned turning move moves moved moving shift shifts shifted shifting switch "
    "switched switching over compared relative relate relates related relating according addition "
    "thanks due exposure prior subject respect contrast"
)
_HAVE = word_set("have has had having i've we've they've you've")
_BE = word_set(
    "am is are was were be been being i'm we're they're you're it's he's she's that's isn't aren't "
    "wasn't weren't remain remains remained become becomes became seem seems feel feels felt stay "
    "stayed look looks get gets got"
)
_DEGREES = word_set(
    "very so too quite as how more most less least pretty fairly rather extremely incredibly "
    "highly even much far particularly really especially relatively increasingly still"
)
_PREPOSITIONS = word_set(
    "of in on for with by from at into through across over under about than between within during "
    "without against among toward towards via per beyond after before around near like including "
    "excluding regarding despite since until upon behind above below along amid throughout versus"
)
#: Words that stand between "are" and its verb.
_MIDDLE = word_set("not also now still just already always all both then uh um never even again")
#: Those of them that hardly ever stand before a noun.
_MIDDLE_OF_VERBS = word_set("also now still just already always never")
#: A name with a number: one thing, which a verb in -s follows.
_SERIAL = re.compile(r"[^\W\d]{2}\d")
_JOINED = word_set("and or but nor")
#: What a verb with an object stands before; a noun hardly ever does.
_OBJECTS = word_set(
    "the a an our your their its my his this these those it them us you me him each every any all "
    "some both more"
)
#: What stands after a noun that heads its phrase.
_AFTER_HEADS = (
    _PREPOSITIONS
    | _JOINED
    | _BE
    | _HAVE
    | word_set(
        "that which who whose where when while as if because to will would can could may might "
        "must should shall do does did not we i they you he she it there also so although though "
        "is's both then today now due"
    )
)
#: What counts nouns, and so does what an article does.
_COUNTING = word_set(
    "] % one two three four five six seven eight nine ten first second third fourth "
    "fifth last next per either neither which what whose"
)
#: Words before a noun among which its article is looked for.
_FAR = 4
#: What makes one verb with the verb before it ("kicks off", "phases out").
_PARTICLES = word_set("off out up down away back")
#: Words that numbers stand before, or are written as.
_NUMBERS = word_set(
    "two three four five six seven eight nine ten dozen hundred thousand million billion trillion"
)
#: What stands between a number and its unit.
_BEFORE_UNITS = word_set("metric short long nautical imperial gross net additional new more")
_YEAR = re.compile("(?:19|20)[0-9]{2}")
_FILLERS = word_set("uh um er ah eh mm hmm uhm")

_TOKEN = re.compile(r"[\w'’&$€£%-]+|[^\s\w]")
#: What of words in capitals may be a Roman numeral, which numbers things.
ROMAN = re.compile(r"[IVX]+")


def dictionary() -> Path:
    """Return where the English dictionary is, without the endings of its two files."""
    from spylls import hunspell

    return Path(hunspell.__file__).parent / "data" / "en" / "en_US"


@lru_cache(maxsize=1)
def _dictionary() -> tuple[
    dict[str, str], list[tuple[str, str]], list[tuple[str, str, str, re.Pattern[str]]]
]:
    """Return word -> flags; prefixes: flag, what comes; endings: flag, what goes, comes, where.

    Read here and not by spylls, whose own form of it takes ten times as long: who needs no more
    than :func:`kinds_of` does not wait for it.
    """
    path = dictionary()
    words: dict[str, str] = {}
    for line in path.with_suffix(".dic").read_text(encoding="utf-8").splitlines()[1:]:
        word, _, flags = line.partition("/")
        words[word] = words.get(word, "") + flags.strip()
    prefixes, endings = [], []
    for line in path.with_suffix(".aff").read_text(encoding="utf-8").splitlines():
        parts = line.split()
        if len(parts) < 5:
            continue
        gone, come = ("" if part == "0" else part.split("/")[0] for part in parts[2:4])
        if parts[0] == "PFX":
            prefixes.append((parts[1], come))
        elif parts[0] == "SFX":
            endings.append((parts[1], gone, come, re.compile(f"{parts[4]}$")))
    return words, prefixes, endings


def _own(word: str, words: Mapping[str, str]) -> set[Kind]:
    """What the dictionary's own entry of a word says; empty where there is none, or none tells."""
    flags = words.get(word, "")
    kinds: set[Kind] = set()
    # where a prefix shares the entry, the possessive has one of its own
    if "M" in flags or f"{word}'s" in words:
        kinds.add("noun")
    # "shipping", "matched" and "necessarily" have entries of their own
    made = (f"{word}ing", f"{word}{word[-1:]}ing", f"{word}ed", f"{word}{word[-1:]}ed")
    if "G" in flags or (flags and any(form in words for form in made)):
        kinds.add("verb")
    if _GRADED & set(flags) or (word.endswith("y") and f"{word[:-1]}ily" in words):
        kinds.add("adjective")
    return kinds


def _by_dictionary(form: str, needed: str) -> set[Kind]:
    """What a form is, by itself and as made from others, of entries that have a flag."""
    words, _, endings = _dictionary()
    kinds = _own(form, words) if needed in words.get(form, "") else set()
    single = "noun" in kinds
    for flag, gone, come, where in endings:
        stem = form[: len(form) - len(come)] + gone
        if not form.endswith(come) or stem == form or flag not in words.get(stem, ""):
            continue
        if flag == "M" or needed not in words[stem] or not where.search(stem):
            continue
        if flag == "S":
            # "gas" is a word of its own, whatever "ga" is
            theirs = _own(stem, words) - {"adjective"}
            kinds |= {"third" if k == "verb" else "plural" for k in theirs if not single}
        elif flag == "R" and "G" in words[stem] and "T" not in words[stem]:
            kinds.add("noun")  # who provides: provider
        else:
            kinds.add(_MADE[flag])
    return kinds


def _doubled(form: str, words: Mapping[str, str]) -> bool:
    """Whether a form is the degree of an adjective that doubles its last letter: "bigger"."""
    match = _DOUBLED.fullmatch(form)
    return match is not None and "adjective" in _own(match[1], words)


@lru_cache(maxsize=65_536)
def kinds_of(form: str) -> frozenset[Kind]:
    """Return what a form in lower case can be, by the dictionary, else by its ending.

    What neither tells may be a noun or an adjective ("rural", "healthcare").

    Examples
    --------
    >>> sorted(kinds_of("store")), sorted(kinds_of("stores")), sorted(kinds_of("cancer"))
    (['noun', 'verb'], ['plural', 'third'], ['noun'])
    >>> sorted(kinds_of("easier")), sorted(kinds_of("announcing")), sorted(kinds_of("sequencing"))
    (['degree'], ['gerund'], ['gerund', 'noun'])
    """
    if "-" in form.strip("-"):
        return _compound(form)
    if form in _IRREGULAR:
        return frozenset({"plural"})
    words, prefixes, _ = _dictionary()
    past = form in _PAST or (_PREFIX.sub("", form, count=1) in _PAST and not _own(form, words))
    if past or _doubled(form, words):
        kind: Kind = "participle" if past else "degree"
        # "cut", "set", "shed" are nouns and verbs of today as well
        return frozenset({kind, *_own(form, words)})
    kinds = _by_dictionary(form, "")
    for flag, prefix in prefixes if not kinds else ():
        if form.startswith(prefix):
            kinds |= _by_dictionary(form[len(prefix) :], flag)
    if form.endswith("s") and "noun" not in kinds:
        # the dictionary has "offer" without what an s makes of it, and "offers" as more than one
        # that is off
        made = _own(form[:-1], words) - {"adjective"}
        kinds |= {"third" if k == "verb" else "plural" for k in made}
    if kinds:
        return frozenset(kinds)
    for ending, kind in _ENDINGS:
        if ending.fullmatch(form):
            return frozenset({kind})
    return frozenset({"adjective", "noun"})


@lru_cache(maxsize=65_536)
def is_word(form: str) -> bool:
    """Return whether the dictionary has a form, as it stands, inflected or behind a prefix.

    Examples
    --------
    >>> is_word("taverns"), is_word("resent"), is_word("reattached"), is_word("prestbury")
    (True, True, True, False)
    """
    words, prefixes, _ = _dictionary()
    if form in words or form in _PAST or form in _IRREGULAR or _by_dictionary(form, ""):
        return True
    return any(
        form.startswith(prefix)
        and (
            flag in words.get(form[len(prefix) :], "") or _by_dictionary(form[len(prefix) :], flag)
        )
        for flag, prefix in prefixes
    )


def _compound(form: str) -> frozenset[Kind]:
    """Words with hyphens: what the last one is; before nouns they are as good as adjectives."""
    last = kinds_of(form.rpartition("-")[2])
    if last & {"gerund", "participle"} and not last & {"noun", "plural"}:
        return frozenset({"adjective"})  # cost-saving, gas-fired
    if form.endswith("s") and "noun" not in last and last & {"plural", "third"}:
        return frozenset({"plural"})  # ramp-ups
    kinds: set[Kind] = {"adjective", *last}
    return frozenset(kinds - {"verb", "third", "degree"})


@lru_cache(maxsize=65_536)
def _may_follow(word: str) -> bool:
    """Whether a word may be what the word before it describes: a noun, or part of its phrase."""
    if word in ("[", "&"):
        return True
    if len(word) < 2 or not word[0].isalpha() or word in _AFTER_HEADS or word in FUNCTION_WORDS:
        return False
    return bool(kinds_of(word.strip("'-")) & {"noun", "plural", "adjective", "gerund"})


class Words:
    """The words and marks of a text, and what those around a place make of its word.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> text = "We ship cement for the rural stores, announcing plans for very clean plants."
    >>> words = Words(text)
    >>> [words.slot(text.index(w)) for w in ("ship", "cement", "rural", "stores", "clean")]
    ['verb', 'noun', 'inside', 'joined', 'modifier']
    >>> text = "We sell health insurance in our new retail store and in tire shops."
    >>> [Words(text).is_bare(text.index(w)) for w in ("insurance", "store", "tire")]
    [True, False, None]
    """

    def __init__(self, text: str) -> None:
        found = [(m.start(), m[0].lower().replace("’", "'")) for m in _TOKEN.finditer(text)]
        words = [word for _, word in found]
        # "uh" is not there, nor is a comma beside it
        spoken = [False, *(word in _FILLERS for word in words), False]
        kept = [
            k
            for k, word in enumerate(words)
            if not spoken[k + 1] and not (word == "," and (spoken[k] or spoken[k + 2]))
        ]
        self._starts = [found[k][0] for k in kept]
        self._words = [words[k] for k in kept]

    def _at(self, start: int) -> int:
        """Return the number of the word that a place begins in."""
        return bisect_right(self._starts, start) - 1

    def _word(self, k: int) -> str:
        return self._words[k] if 0 <= k < len(self._words) else ""

    def slot(self, start: int) -> Slot:
        """Return where the word stands that begins at an offset."""
        k = self._at(start)
        before, word, after = self._word(k - 1), self._word(k), self._word(k + 1)
        follows = _may_follow(after)
        towards = before == "to" and self._word(k - 2) in _TOWARDS
        if (before in _BEFORE_VERBS and not towards) or (before in _JOINED and self._again(k)):
            return "verb"
        if after in _PREPOSITIONS and kinds_of(word) == {"adjective"}:
            return "predicate"  # "functions capable of more"
        of_verbs = kinds_of(word) & {"verb", "third", "gerund"}
        if after in _PARTICLES and of_verbs and not _is_article(before):
            return "verb"  # "he kicks off the process", "stepping back"
        if (
            "third" in kinds_of(word)
            and after.endswith("ly")
            and "adverb" in kinds_of(after)
            and not _is_article(before)
        ):
            return "verb"  # "this dovetails nicely with"
        if before in ("that", "which") and kinds_of(word) & {"verb", "third"}:
            return "verb"
        if "third" in kinds_of(word) and (before in _MIDDLE_OF_VERBS or _SERIAL.search(before)):
            return "verb"  # "the website now shows", "AFM24 shows preserved"
        if word.endswith("ing") and self._progressive(k):
            return "verb"
        if word.endswith("ing") and _is_plural(before) and after in _PREPOSITIONS - {"of"}:
            return "verb"  # "expectations heading into the quarter"
        if not follows and "verb" in kinds_of(word) and _is_plural(before):
            return "verb"  # "as events unfold"
        # a singular noun or an adjective before it does what an article does: no verb agrees
        if (_determines(before) or _leads(before)) and (follows or after not in _OBJECTS):
            if after in _JOINED or after == ",":
                return "joined"
            return "inside" if follows else "noun"
        if after in _OBJECTS and before != "of":
            return "verb"
        if (
            before in _BE
            or before in _HAVE
            or before in _DEGREES
            or (before.endswith("ly") and "adverb" in kinds_of(before))
        ):
            return "modifier" if follows else "predicate"
        if follows:
            return "modifier"
        if after in _JOINED or after == ",":
            return "joined"
        return "open" if (after in _PREPOSITIONS and after != "of") or after == "to" else "head"

    def _again(self, k: int) -> bool:
        """Whether a word that may be a verb is one after "and": "please go there and click on"."""
        return self._word(k + 1) in _PREPOSITIONS - {"of"} and "verb" in kinds_of(self._word(k))

    def _progressive(self, k: int) -> bool:
        """Whether "are", or "are now also" and the like, stands before a word."""
        for j in range(k - 1, k - 1 - _FAR, -1):
            word = self._word(j)
            if word in _BE:
                return True
            if word not in _MIDDLE and not word.endswith("ly"):
                return False
        return False

    def is_counted(self, start: int) -> bool:
        """Whether a number stands before the word that begins at an offset.

        Examples
        --------
        >>> text = "In 2020 plants of 1,200 megawatts made 3 million pesos, 5% sales growth."
        >>> [Words(text).is_counted(text.index(w)) for w in ("plants", "mega", "pesos", "sales")]
        [False, True, True, False]
        """
        k = self._at(start) - 1
        before = self._word(k - (self._word(k) in _BEFORE_UNITS)).rstrip("-")
        if before in _NUMBERS:
            return True
        return before[:1].isdigit() and not before.endswith("%") and not _YEAR.fullmatch(before)

    def is_bare(self, start: int) -> bool | None:
        """Whether the noun that begins at an offset heads its phrase without an article.

        So stand "insurance" and plurals, and hardly ever "a store"; None where it does not head its
        phrase, or what stands before was not understood.
        """
        k = self._at(start)
        if _may_follow(self._word(k + 1)):
            return None
        for j in range(k - 1, k - 1 - _FAR, -1):
            word = self._word(j)
            if _determines(word) or word in _COUNTING or word[:1].isdigit():
                return False
            if word in _JOINED or word == ">":
                return None
            if not (_may_follow(word) or word in _DEGREES):
                return True
        return True


def _determines(word: str) -> bool:
    return word in _DETERMINERS or word == "]" or word.endswith("'s")


def _is_article(word: str) -> bool:
    return word in _DETERMINERS or word.endswith("'s")


def _is_plural(word: str) -> bool:
    return _may_follow(word) and "plural" in kinds_of(word)


def _leads(word: str) -> bool:
    """Whether a word before another makes a noun of it: a singular noun, an adjective."""
    if word == "&" or not _may_follow(word):
        return False
    return not kinds_of(word.strip("'-")) & {"plural", "gerund", "participle"}


@lru_cache(maxsize=65_536)
def use_of(form: str, slot: Slot) -> Use:
    """Return as what a form in lower case stands in a slot, of what it can be.

    Examples
    --------
    >>> use_of("store", "verb"), use_of("cancer", "verb"), use_of("dependent", "predicate")
    ('', 'noun', '')
    >>> use_of("clinical", "modifier"), use_of("sequencing", "verb"), use_of("drilling", "noun")
    ('adjective', '', 'noun')
    """
    kinds = kinds_of(form)
    noun, adjective = bool(kinds & {"noun", "plural"}), "adjective" in kinds
    if slot == "verb" and form.endswith("ing"):
        return ""  # "losses that are sitting there"
    if not kinds - {"noun", "plural"}:
        return "noun"
    if is_comparative(form) and slot != "noun":
        return ""  # "in warmer ones"
    if "gerund" in kinds:
        # "executing on plans", "recruiting patients": what has an object, or might, is a verb
        if slot == "inside" and not noun:
            return "adjective"
        if slot == "modifier":
            return "either"
        likely = ("noun", "inside", "head", "joined") + ("open",) * noun
        return "noun" if slot in likely else ""
    if not noun and kinds & {"adverb", "degree", "third", "participle"}:
        return ""
    if slot == "noun" and not adjective:
        return "noun" if noun or "verb" in kinds else ""
    if slot == "inside":
        return "adjective" if adjective or not noun else "noun"
    if slot in ("verb", "predicate"):
        return "noun" if kinds <= {"noun", "plural", "adverb"} else ""
    if adjective and (slot == "modifier" or not noun):
        return "adjective"
    if slot == "joined" and (_is_graded(form) or (adjective and _has_ity(form))):
        return ""  # "a volatile and difficult market"
    return "noun" if noun else ""


def _is_graded(form: str) -> bool:
    """Whether the dictionary has an adverb, an abstract noun or a degree of a form."""
    words = _dictionary()[0]
    flags = words.get(form, "")
    return bool(_GRADED & set(flags)) or (form.endswith("y") and f"{form[:-1]}ily" in words)


def _has_ity(form: str) -> bool:
    """Whether a form in -e has an abstract noun in -ity: "volatile", "diverse"."""
    return form.endswith("e") and f"{form[:-1]}ity" in _dictionary()[0]


@lru_cache(maxsize=65_536)
def is_comparative(form: str) -> bool:
    """Whether a form is the comparative of an adjective, whatever else: "warmer", no "driver".

    Examples
    --------
    >>> [is_comparative(form) for form in ("warmer", "cooler", "driver", "colliery", "consumer")]
    [True, True, False, False, False]
    """
    words = _dictionary()[0]
    # only adjectives have a superlative as well
    bases = (form[:-2], form[:-1], f"{form[:-3]}y") if form.endswith("er") else ()
    return any({"R", "T"} <= set(words.get(base, "")) for base in bases)


def stands_as_noun(form: str, nouns: int, adjectives: int, places: int) -> bool:
    """Whether a form stands as a noun, or before one, in most of its places.

    Parameters
    ----------
    form : str
        In lower case.
    nouns, adjectives : int
        In how many places it does (:func:`use_of`).
    places : int
        All places of it.

    Notes
    -----
    The share is taken as if one place more had been seen, which counts for the form where the
    dictionary has it for nothing but a noun or an adjective, and half where it may be a verb.

    Examples
    --------
    >>> stands_as_noun("cement", 3, 0, 4), stands_as_noun("announcing", 2, 0, 9)
    (True, False)
    """
    kinds = kinds_of(form)
    if kinds & {"gerund", "participle", "degree", "adverb"}:
        return nouns + adjectives >= LEAST_OF_VERBS * places
    prior = 0.5 if kinds & {"verb", "third"} else 1.0
    if not kinds & {"noun", "plural", "adjective"}:
        prior = 0.0
    return (nouns + adjectives + prior) / (places + 1) >= LEAST_SHARE


def is_uncountable(form: str, bare: int, heads: int, plurals: int) -> bool:
    """Whether a noun is one that needs no article, such as "insurance".

    Parameters
    ----------
    form : str
        A singular, in lower case.
    bare : int
        Places where it heads its phrase without an article (:meth:`Words.is_bare`).
    heads : int
        All places where it heads its phrase.
    plurals : int
        Places of its plural; with more of them than heads it is none.

    Notes
    -----
    Two places more are counted, bare where the dictionary has no plural of the word.

    Examples
    --------
    >>> is_uncountable("insurance", 5, 9, 0), is_uncountable("store", 5, 9, 70)
    (True, False)
    >>> is_uncountable("software", 0, 0, 0), is_uncountable("tire", 0, 0, 0)
    (True, False)
    """
    words = _dictionary()[0]
    known = "M" in words.get(form, "") and "S" not in words[form]
    return plurals <= heads and (bare + 2 * known) / (heads + 2) >= LEAST_BARE


def is_noun_too(form: str, nouns: int, others: int, plural: bool) -> bool:
    """Whether a form that may be an adjective is a noun as well, where it heads a phrase.

    Parameters
    ----------
    form : str
        In lower case.
    nouns, others : int
        Places where it seems to be a noun, and all others.
    plural : bool
        Whether the texts have its plural: "chemicals" are things, and there are no "necessaries".

    Examples
    --------
    >>> is_noun_too("necessary", 5, 9, False), is_noun_too("healthcare", 12, 40, False)
    (False, True)
    """
    if "adjective" not in kinds_of(form):
        return True
    words = _dictionary()[0]
    if form.endswith("ic") and form in words and "M" not in words[form]:
        return False  # nothing is an economic's; its plural is a science
    if _is_graded(form):
        return plural
    return nouns >= others / 5
