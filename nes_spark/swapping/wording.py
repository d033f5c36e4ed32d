"""Small grammar of English names: possessives, plurals, and articles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

from nes_spark.entities.wordforms import kinds_of
from nes_spark.text.sentences import word_set

_POSSESSIVE = re.compile(r"(?:['’][sS]|(?<=[sS])['’])$")


@dataclass(frozen=True)
class Form:
    """A name as it stands in a text.

    Attributes
    ----------
    base : str
        The name without endings.
    plural : bool
        Whether a plural ending was taken off.
    possessive : str
        The possessive ending that was taken off: ``"'s"``, ``"'"`` (with either apostrophe) or ''.
    """

    base: str
    plural: bool = False
    possessive: str = ""


def take_apart(surface: str, names: Collection[str]) -> Form:
    """Split a surface into base, plural and possessive endings.

    Parameters
    ----------
    surface : str
        Characters of a mention.
    names : collection of str
        Other known forms of the same entity: a final s is a plural ending only when the rest is
        one of them, or the last words of one (case ignored). "Windows" has no plural ending.

    Examples
    --------
    >>> take_apart("iPhones'", {"Apple iPhone"})
    Form(base='iPhone', plural=True, possessive="'")
    >>> take_apart("Siemens", {"Siemens"})
    Form(base='Siemens', plural=False, possessive='')
    """
    possessive = ""
    match = _POSSESSIVE.search(surface)
    if match and match.start() > 0:
        possessive = match.group()
        surface = surface[: match.start()]
    known = {name.casefold() for name in names}
    if surface.casefold() not in known:
        for ending, restored in (("ies", "y"), ("es", ""), ("s", "")):
            if not surface.lower().endswith(ending) or len(surface) - len(ending) < 2:
                continue
            base = surface[: -len(ending)] + (restored.upper() if surface.isupper() else restored)
            folded = base.casefold()
            if any(name == folded or name.endswith((f" {folded}", f"-{folded}")) for name in known):
                return Form(base, True, possessive)
    return Form(surface, False, possessive)


def possessive_end(text: str, start: int, end: int) -> int:
    """Return where a name and a bare possessive apostrophe after it ("Siemens' results") end.

    An apostrophe may also close a quotation. It counts as a possessive only when the name ends in
    s, the next word follows after a space in lower case, and no quotation mark stands before the
    name or opens a quotation earlier in the line; else ``end`` is returned.
    """
    if text[end : end + 1] not in ("'", "’") or text[end - 1] not in "sS":
        return end
    if not re.match(r"[ \t]+[a-z]", text[end + 1 : end + 8]):
        return end
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if re.search(r"(?:^|[\s(\[])['‘]", line) or line.endswith(("'", "‘", "’")):
        return end
    return end + 1


#: An 's before a verb, which no possessive stands before: "Debrett's advises".
_OWN = re.compile(
    r"['’]s(?= (?P<adverb>(?:already|also|always|never|still) )?"
    r"(?:(?:has|does|says|could|would)\b|(?:is|was) \w+ing\b|will (?!and|of|or|to|was|is)[a-z]+\b"
    r"|(?P<verb>[a-z]+s)\b))"
)


def own_ending(text: str, end: int) -> int:
    """Return where the 's that a name has itself ends: what a verb follows owns nothing.

    Parameters
    ----------
    text : str
    end : int
        Where the name without it ends; returned where there is none.

    Examples
    --------
    >>> [own_ending(text, 7) for text in ("Debrett's advises it", "Debrett's only plants")]
    [9, 7]
    """
    match = _OWN.match(text, end)
    if match is None:
        return end
    kinds = kinds_of(match["verb"]) if match["verb"] else frozenset({"third"})
    # "Debrett's tests" may be a noun; behind an adverb they are none
    owns = "third" not in kinds or ("plural" in kinds and not match["adverb"])
    return end if owns else match.end()


def put_together(base: str, form: Form, person: bool = False) -> str:
    """Return a name with the endings of another form.

    Parameters
    ----------
    base : str
        Name without endings.
    form : Form
        Whose endings to give it.
    person : bool
        Names of persons in -y and -s have plurals in -ys and -ses (the Kennedys, the Joneses), and
        those in -s own with 's (James's, but Barclays').

    Examples
    --------
    >>> put_together("Galaxy", Form("iPhone", True, "'"))
    "Galaxies'"
    >>> put_together("Intel", Form("Siemens", False, "'"))
    "Intel's"
    """
    name = base
    if form.plural:
        low = base.lower()
        if low.endswith("s"):
            name = f"{base}es" if person else base
        elif low.endswith(("x", "z", "ch", "sh")):
            name = f"{base}es"
        elif re.search(r"[^aeiou\W\d]y$", low) and not person:
            name = f"{base[:-1]}ies"
        else:
            name = f"{base}s"
    if not form.possessive:
        return name
    mark = form.possessive[0]
    if len(form.possessive) == 1 or (name.lower().endswith("s") and (form.plural or not person)):
        return name + (mark if name.lower().endswith("s") else f"{mark}s")
    return name + form.possessive


#: The article directly before a name; a quote or bracket may stand between.
ARTICLE = re.compile(r"(?<![\w'’.&-])(a|an|A|An|AN)(\s+[\"“‘'(]?)$")
_LETTERS_WITH_VOWEL_SOUND = frozenset("AEFHILMNORSX")
_CONSONANT_SOUND = re.compile(
    r"(?:eu|ewe|ufo\b|uni(?!n|mp|de)|us[eau]|ut[aeio]|ur[aiu]|ubi|one\b|once|ouija|u\b)"
)
_MARKS = re.compile(r"[\u0300-\u036f]")
_VOWELS = str.maketrans("ØøÆæŒœŁł", "OoEeEeLl")
_SILENT_H = re.compile(r"(?:hour|honest|honou?r|heir)")


def vowel_sound(name: str) -> bool | None:
    """Tell whether a name begins with a vowel sound, so that "an" goes before it.

    Rules of thumb for English: letters that are spelled out (initialisms of up to three capitals,
    or without a vowel) by the name of the letter, numbers by their first word, otherwise the first
    letters with the usual exceptions. None where there is no Latin letter or digit.

    Examples
    --------
    >>> [vowel_sound(n) for n in ("Intel", "FDA", "Uniqlo", "8x8", "Honda", "NASA", "[Event]")]
    [True, True, False, True, False, False, True]
    """
    # "Ø" and "Æ" are letters of their own, others a letter and a mark
    plain = unicodedata.normalize("NFKD", name.translate(_VOWELS))
    match = re.search(r"[^\W_]+", _MARKS.sub("", plain))
    if match is None:
        return None
    word = match.group()
    if word[0].isdigit():
        digits = re.match(r"\d+", word)
        number = digits.group() if digits else ""
        leading = len(number) % 3 or 3  # digits of the first group of a thousand
        return number[0] == "8" or (number[:2] in ("11", "18") and leading == 2)
    first = word[0].upper()
    if not ("A" <= first <= "Z"):
        return None
    capitals = re.match(r"[A-Z]+(?![a-z])", word)
    if capitals:
        letters = capitals.group()
        if len(letters) <= 3 or not re.search(r"[AEIOUY]", letters):
            return letters[0] in _LETTERS_WITH_VOWEL_SOUND
    low = word.lower()
    if _SILENT_H.match(low):
        return True
    if low[0] in "aeiou":
        return _CONSONANT_SOUND.match(low) is None
    return False


def find_article(text: str, start: int, floor: int) -> tuple[int, int] | None:
    """Return the offsets of an indefinite article directly before ``start``, else None.

    Parameters
    ----------
    text : str
    start : int
        Offset of the name.
    floor : int
        The article must not begin before this offset (the end of the mention before).

    Notes
    -----
    A capital A inside a sentence ("Series A", "Plan A") is a letter, not an article.
    """
    match = ARTICLE.search(text, max(floor, start - 12, 0), start)
    if match is None:
        return None
    begin = match.start(1)
    if match.group(1)[0] == "A" and not _sentence_start(text, begin):
        return None
    return match.span(1)


def _sentence_start(text: str, at: int) -> bool:
    before = text[:at].rstrip()
    return not before or before[-1] in '.!?:;"“(' or "\n" in text[len(before) : at]


def mend_article(article: str, before: str, after: str) -> str:
    """Return the article that goes with a new name.

    It stays as it is where the first sound of both names is alike, or nothing is known of it.

    Parameters
    ----------
    article : str
        As it stands: a, an, A, An or AN.
    before, after : str
        The name it stood before and the one that comes in its place.

    Examples
    --------
    >>> mend_article("An", "Intel", "Dell"), mend_article("a", "Dell", "Ford")
    ('A', 'a')
    """
    old, new = vowel_sound(before), vowel_sound(after)
    if new is None or old == new:
        return article
    if new:
        return "AN" if article == "AN" else "An" if article[0] == "A" else "an"
    return "A" if article[0] == "A" else "a"


#: Places that take the article although no word in them says so.
_WITH_THE = word_set(
    "us usa uk uae ussr eu netherlands philippines bahamas maldives seychelles gambia vatican "
    "hague bronx midwest northeast northwest southeast southwest west east north south caribbean "
    "mediterranean pacific atlantic arctic antarctic baltic balkans alps andes himalayas rockies "
    "appalachians pyrenees crimea sahara amazon nile danube rhine thames mississippi bay-area "
    "americas levant sahel gulf permian bakken marcellus"
)
#: Last words of names of places, and of institutions, that are used with the article.
_PLACES_WITH_THE = word_set(
    "states kingdom emirates republic islands isles coast region area basin ocean sea river "
    "canal desert peninsula mountains alps plains delta strait gulf union federation "
    "commonwealth midwest northeast northwest southeast southwest east lakes highlands "
    "lowlands territories district"
)
#: "the San Fernando Valley", but "Silicon Valley".
_EITHER = word_set("valley bay hills")
_INSTITUTIONS_WITH_THE = word_set(
    "commission court courts department ministry bureau agency board council committee union "
    "army navy corps senate congress parliament administration authority association federation "
    "foundation office tribunal chamber government treasury secretariat institute league cabinet "
    "police registry exchange alliance commonwealth confederation convention directorate "
    "inspectorate times tribune guardian fed fda sec fcc epa doj dod irs cdc nih fbi cia who wto "
    "imf ecb usda ferc boem iasb fasb ftc faa dot nlrb nato un psc puc nhs ncaa eib"
)
_OF = re.compile(r"\b(?:of|for|on)\b")
#: A word before which a bare name stands as a noun, so that an article may be put in front of it.
_BEFORE_NOUN = word_set(
    "in of to from for by with at on into onto across throughout through over under between "
    "among within outside inside near around against about and or but versus vs like than via "
    "beyond toward towards until since during including excluding is was are were be as that "
    "which while where when because if after before joined left told sued asked says said"
)
_ARTICLES = word_set(
    "a an the this that these those our your their his her its my each every some any no another "
    "which what whose both either neither such"
)
#: A word after which a name is a noun by itself and does not qualify what follows.
_AFTER_NOUN = word_set(
    "a about across after against ago all along also although among an and any are around as at "
    "be became because been before began being below between both but by came can cannot "
    "continues could cut did do does during each fell for found from gave got grew had has have "
    "he held however i if in into is it its just kept last led left like lost made may meanwhile "
    "met might must near never next nor not now of off on once one only onto or our out outside "
    "over paid per put ran rather rose ruled said saw says set shall she should since so soon "
    "stood such than that the their then there these they this those though through throughout "
    "to today together told took toward until up upon us was we went were what when where "
    "whereas which while who whom whose will with within without won would wrote yesterday yet "
    "you see sees say want wants need needs make makes take takes get gets go goes come comes "
    "seem seems become becomes remain remains know knows think thinks feel feels give gives find "
    "finds tell tells ask asks try tries keep keeps let lets bring brings begin begins follow "
    "follows allow allows include includes require requires provide provides agree agrees argue "
    "argues account accounts again alone altogether beyond despite during either else elsewhere "
    "except excluding beginning coming ending going resulting starting here how including instead "
    "itself ourselves plus themselves therefore thus too under unless "
    "versus via vs whatever whenever wherever whether why"
)
_NO_VERB = word_set("based owned listed related backed led wide bred made funded sized born")
_NO_ADVERB = word_set(
    "family supply assembly monopoly anomaly homily butterfly weekly monthly quarterly yearly "
    "friendly likely elderly costly lively lovely lonely orderly timely"
)
THE = re.compile(r"(?<![\w'’.&-])(the|The|THE)(\s+)$")


def takes_the(name: str, category: str) -> bool | None:
    """Tell whether a name is used with the definite article: "the United States", but "Chicago".

    Parameters
    ----------
    name : str
    category : str
        Rules are known for ``Location`` and ``Organization``.

    Returns
    -------
    bool or None
        None where nothing is known: acronyms of organisations, valleys and bays, other categories.

    Examples
    --------
    >>> [takes_the(n, "Location") for n in ("United States", "Chicago", "Gulf Coast")]
    [True, False, True]
    >>> [takes_the(n, "Organization") for n in ("Exchange Commission", "Vega", "XPO")]
    [True, False, None]
    >>> [takes_the(n, "Organization") for n in ("Kingdom of Sweden", "Old Republic")]
    [True, False]
    """
    if category not in ("Location", "Organization"):
        return None
    words = re.findall(r"[^\W_]+", name.casefold())
    if not words or name.casefold().startswith("the "):
        return False
    squeezed = re.sub(r"[\W_]+", "", name.casefold())
    # "Department of Justice": the first part says what it is
    head = re.findall(r"[^\W_]+", _OF.split(name.casefold(), maxsplit=1)[0])
    last = head[-1] if head else words[-1]
    if category == "Location":
        if len(words) == 1 or "." in name:
            return squeezed in _WITH_THE
        if last in _EITHER:
            return None
        return last in _PLACES_WITH_THE
    if last in _INSTITUTIONS_WITH_THE and (len(words) > 1 or squeezed == last):
        return True
    if squeezed.endswith("attorneygeneral"):
        return True
    if last in ("university", "bank", "college") and _OF.search(name):
        return True
    # a state that is a party: "the Kingdom of Sweden", but "Old Republic"
    if last in ("kingdom", "republic", "states") and (_OF.search(name) or words[0] == "united"):
        return True
    if len(words) == 1 and name.isupper():
        return None
    return False


def is_noun(text: str, end: int) -> bool:
    """Return whether the name that ends at an offset is a noun by itself.

    In "the US and" and "the US's" it is; in "the US economy" the article belongs to what follows.
    """
    if re.match(r"['’]", text[end : end + 1]):
        return True
    match = re.match(r"[ \t]*\n?[ \t]*([^\W_][\w'’-]*)?", text[end:])
    word = match.group(1) if match else None
    if not word:
        return not re.match(r"-\w", text[end : end + 2])
    if match is not None and match.start(1) == 0:
        return False
    if word.casefold() in _AFTER_NOUN:
        return True
    if word.endswith("ly"):
        return len(word) > 5 and word not in _NO_ADVERB
    return word.endswith("ed") and word not in _NO_VERB and len(word) > 4


def mend_the(
    text: str, start: int, end: int, floor: int, new: str, category: str
) -> tuple[int, int, str] | None:
    """Return how the definite article before a name changes with the name, if it does.

    Parameters
    ----------
    text : str
    start, end : int
        Offsets of the old name, with its possessive ending if it has one.
    floor : int
        No change before this offset.
    new : str
        The new name, without endings.
    category : str

    Returns
    -------
    (int, int, str) or None
        Offsets, and what comes there: an article put in, or nothing for one taken out.

    Examples
    --------
    >>> mend_the("sales in Chicago rose", 9, 16, 0, "United States", "Location")
    (9, 9, 'the ')
    >>> mend_the("in the US, too", 7, 9, 0, "Chicago", "Location")
    (3, 7, '')
    >>> mend_the("in the US economy", 7, 9, 0, "Chicago", "Location") is None
    True
    """
    wants = takes_the(new, category)
    if wants is None or not (is_noun(text, end) or _POSSESSIVE.search(text[start:end])):
        return None
    article = THE.search(text, max(floor, start - 12, 0), start)
    if article:
        return None if wants else (article.start(1), start, "")
    if not wants:
        return None
    before = re.search(r"([^\W_][\w'’-]*)[ \t\n]+$", text[max(floor, start - 40) : start])
    if before is None:
        opens = start == 0 or re.search(
            r"[.!?:;\n][\"”’]?\s*$|\n$", text[max(0, start - 8) : start]
        )
        listed = re.search(r"[,(]\s$|—\s?$", text[max(floor, start - 3) : start])
        return (start, start, "The ") if opens else (start, start, "the ") if listed else None
    return (start, start, "the ") if before.group(1).casefold() in _BEFORE_NOUN else None
