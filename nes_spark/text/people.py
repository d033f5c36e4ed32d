"""People whom a document itself presents as its own, mined from the frames that present them.

"Vince Angotti, our Chief Executive Officer", "our CFO, Carlos Yusty", "Mr. Shuang Liu", "I'll turn
it over to Tom", "as Jim mentioned": who is introduced, handed over to or thanked is one of the
document's own people, whatever the input lists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from nes_spark.config import IdentifierKind
from nes_spark.text.forms import fold, name_words, opens_sentence, place_names, squeeze
from nes_spark.text.matching import Matcher
from nes_spark.text.normalizing import normalize
from nes_spark.text.presentation import PARTICLES, Turn
from nes_spark.text.sentences import word_set
from nes_spark.text.vocabulary import COMMON_WORDS, DEMONYMS, DESCRIPTORS, NICKNAMES

_CAP = r"[A-ZÀ-ÖØ-Þ](?:\w|['’](?=[A-ZÀ-ÖØ-Þ])|[-‐‑](?=\w)|\.(?=[A-Z]\b))*"
_LATER = rf"(?:(?:de|di|du|da|la|le|van|von|ter|mac|mc)(?=[A-Z])\w+|{_CAP})"
_PART = r"(?:von|van|der|den|de|del|della|di|da|dos|du|la|le|bin|al|el|ter|ten|zu)"
#: A run of capitalised words, with initials and particles between them.
_RUN = re.compile(
    rf"(?<![\w'’-])(?:(?:Mr|Ms|Mrs|Dr|"
    rf"Prof)\. )?{_CAP}(?:(?:(?<=\b[A-Z])\.)? (?:{_PART} ){{0,2}}{_LATER}){{0,5}}"
)
_TITLES = word_set("mr ms mrs miss mx dr prof professor sir dame señor mister doctor")
_ROLE = (
    r"(?:(?:[Ee]xecutive|[Ss]enior|[Gg]roup|[Gg]lobal|[Cc]orporate|[Rr]egional|[Ii]nterim|"
    r"[Aa]cting|"
    r"[Dd]eputy|[Aa]ssistant|[Aa]ssociate|[Nn]ew|[Ff]ormer|[Oo]utgoing|[Ii]ncoming|[Cc]urrent|"
    r"[Nn]on-[Ee]xecutive|[Ll]ead|[Ff]ounding|[Nn]ewly[- ]appointed) ){0,3}"
    r"(?:C[EFOTIMSRC]O|CHRO|IRO|[Cc]hief \w+(?:,? (?:and|&) \w+)? [Oo]fficer|"
    r"[Cc]hief (?:\w+ )?[Ee]xecutive|[Cc]hief of [Ss]taff|[Pp]resident|[Cc]hair(?:man|woman|"
    r"person)?|"
    r"[Vv]ice[- ][Pp]resident|[Vv]ice[- ][Cc]hair(?:man|woman)?|E?S?VP|[Dd]irector|[Hh]ead of|"
    r"[Mm]anaging (?:[Dd]irector|[Pp]artner)|[Gg]eneral (?:[Mm]anager|[Cc]ounsel)|[Tt]reasurer|"
    r"[Cc]ontroller|[Cc]o-?[Ff]ounder|[Ff]ounder|[Ss]ecretary|[Ii]nvestor [Rr]elations|IR|"
    r"[Mm]anager|"
    r"[Oo]fficer)\b"
)
#: Behind a full name: what the person is here.
_IS_OFFICER = re.compile(
    r"(?:,|\s\(|\sis|,? who is|,? who serves as|,? as|,? (?:has been|was|is being) "
    r"(?:named|appointed|promoted)(?: to| as)?)?,?(?: also| currently| now)?"
    r"(?P<own> (?:our|my)(?: [a-z-]+){0,2})?"
    r"(?: the(?: company['’]s| group['’]s)?| its| an?| [A-Z]\w+['’]s?)?"
    rf"(?: new| own)? (?:{_ROLE})(?P<rest>[^.;\n]{{0,60}})"
)
#: A role of somebody else's company: "Jim Smith, CEO of Globex".
_ELSEWHERE = re.compile(
    r"(?:[\w ]{0,30}?) (?:of|at|for|from|"
    r"with) (?:the )?(?P<name>[A-Z][\w&’'-]+(?: [A-Z][\w&’'-]+){0,3})"
)
#: Before a name: a role.
_OFFICER = re.compile(
    rf"(?P<own>\b(?:[Oo]ur|[Mm]y)(?: \w+)? )?\b{_ROLE}"
    r"(?P<of>(?: of| for|,? and|,? &|,) [\w&' -]{1,40})?,? $"
)
_HANDED = re.compile(
    r"\b(?:turn\w*|hand\w*|pass\w*|giv\w+|transfer|switch|move|go|kick|toss|throw|flip|bring|"
    r"yield|cede|"
    r"send|start|begin|call|conference|meeting|floor|[Oo]ver|[Bb]ack)\b[^.?!\n]{0,64}?\b(?:to|"
    r"with|on) "
    rf"(?:(?:our|my|your|the|colleague|partner|friend|speakers?|hosts?|today|good|moderator|"
    rf"presenter|"
    rf"first|for|a|few|remarks)[ ,]+){{0,5}}(?:{_ROLE}[ ,]+)?$"
)
_THANKED = re.compile(
    r"(?:\b[Tt]hank(?:s| you)(?: very much| so much| a lot| again)?|\b[Gg]ood (?:morning|"
    r"afternoon|evening)|"
    r"\b[Ww]elcome|\b[Oo]kay|\b[Gg]reat|\b[Pp]erfect|\bYes|\bSure|\b[Oo]ver to you|"
    r"\b[Bb]ack to you|"
    r"\b[Gg]o ahead|\byours|\b[Pp]lease (?:begin|proceed)|\b[Tt]o you(?: now)?),? $"
)
_SELF = re.compile(r"\b(?:I'm|I’m|I am|[Mm]y name is|[Nn]ame's|[Tt]his is) $")
_NAMED = re.compile(
    r"\b(?:[Ll]ed by|[Hh]eaded by|[Ww]elcom(?:e|ing)|[Cc]ongratulat(?:e|ing)|[Aa]ppoint(?:ed|"
    r"ment of|ing)|"
    r"[Pp]romot(?:ed|ion of)|[Hh]ired?|[Ii]ntroduc(?:e|ing)|[Ii]nvite|[Tt]hank|[Cc]olleagues?|"
    r"[Pp]artner|[Hh]ost|[Ff]ounder|[Ss]uccessor|[Pp]redecessor|[Rr]eplac(?:e|ing)|[Cc]all on|"
    r"[Rr]esignation|[Rr]etirement|[Dd]eparture|[Nn]omination|[Ee]lection|[Aa]ddition|[Aa]rrival|"
    r"(?:[Pp]leased|[Dd]elighted|[Hh]appy|[Ee]xcited) with|[Pp]roud|[Gg]rateful|of you|[Yy]ou all)"
    r"(?: today| also| both| you| to| now| is| by| as|,| of| for| know){0,3},? $"
)
_SPEAKS = re.compile(
    r",? (?:please go ahead|go ahead|over to you|back to you|you may (?:now )?(?:begin|proceed|go)|"
    r"please (?:begin|proceed|continue)|the floor is yours|you have the floor|your line is|"
    r"take it away)"
)
_SAID = re.compile(
    r"(?: and [A-Z]\w+| and I)?(?: has| have| had)?(?: just| already| also| previously| earlier|"
    r" both)? "
    r"(?:mentioned|said|noted|described|discussed|outlined|indicated|highlighted|pointed|alluded|"
    r"stated|explained|referenced|touched|talked|walked|covered|shared|summarized|reported|"
    r"reviewed|"
    r"suggested|commented|detailed|spoke|articulated)\b"
)
_WILL = re.compile(
    r"(?:,? (?:and|&) [A-Z]\w+(?: [A-Z]\w+)?)?(?: will| would| is going to| are going to| can|"
    r"['’]ll) "
    r"(?:then |now |also |both |first |next |briefly )*"
    r"(?:discuss|provide|cover|review|take|walk|share|talk|give|begin|present|comment|go|follow|"
    r"speak|"
    r"update|join|elaborate|address|describe|summarize|open|close|start|run|lead|be)\b"
)
#: What only a speaker of the call will do.
_WALKS = re.compile(
    r"(?:,? (?:and|&) [A-Z]\w+)?(?: will| would| is going to| are going to|['’]ll)"
    r"(?: then| now| also| both| first| next| briefly)* "
    r"(?:(?:take|walk|guide|lead|brief) (?:us|you)|elaborate|comment|talk|speak|be joined)\b"
)
_WHO = re.compile(
    r",? who (?:has|have|had|is|was|will|would|joins?|joined|leads?|led|brings?|brought|served?|"
    r"serves|returns?|returned|came|comes|spent|took|takes|recently|previously|most|currently)\b"
)
_AND_I = re.compile(r" and (?:I|myself|me)\b")
#: No name of a person follows one of these.
_ARTICLE = re.compile(r"\b(?:the|an?|new|this|these|those|its|their) $")
#: A sentence that says who is there; what it names are people.
_PRESENT = re.compile(
    r"\b(?:join(?:ing|ed|s)? (?:me|us|you|by|today|on)|with (?:me|us|you)|on (?:the|today's|our|"
    r"this) "
    r"(?:call|line)|participants|present(?:ers|ing)|speakers|hosts|introduc\w+|accompanied|"
    r"(?:together|along) with|alongside|"
    r"represent\w*|"
    r"here (?:today|is|are|with)|hear from|remarks)\b",
    re.IGNORECASE,
)
#: What a speaker says between two names: "Ann, uh, Roe".
_FILLER = re.compile(r",? (?:uh|um|er|ah|mm|hmm),? ", re.IGNORECASE)
#: Characters of the opening, in which such sentences count.
_OPENING = 12_000

_NO_NAMES = word_set(
    "chairperson besides meanwhile moreover deputy superintendent senator congressman governor "
    "minister "
    "mr mrs ms miss dr sir prof operator operators everyone everybody all you your our the this "
    "that these those today tonight tomorrow yesterday good morning afternoon evening ladies "
    "gentlemen thank thanks welcome please hello hi okay ok great yes no sure well now so then "
    "and but or if as at in on of for to with from by about into we i he she they it us them me "
    "my his her their its who what when where why how which here there let lets january february "
    "march april may june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday q1 q2 q3 q4 first second third fourth quarter year "
    "fiscal slide page call conference webcast question questions answer answers session line "
    "management company group team board committee shareholders investors investor analysts "
    "analyst relations press release safe harbor form sec gaap covid coronavirus christmas chief "
    "executive officer president chairman chairwoman chair director directors vice senior head "
    "manager general counsel treasurer secretary controller founder cofounder ceo cfo coo cto cio "
    "cmo evp svp vp ir iro esg ebitda ai financial operating commercial medical marketing "
    "technology strategy strategic finance operations sales business corporate global "
    "international regional product products services solutions segment division phase fda eu uk "
    "usa north south east west united states america europe asia china india capital markets "
    "market bank street wall zoom google microsoft amazon facebook twitter youtube linkedin apple "
    "walmart target costco congress senate house government administration department treasury "
    "federal reserve medicare medicaid god jesus speaker moderator host inaudible crosstalk unk "
    "regards related note looking turning moving during despite although while since because "
    "before after under over through within without additionally furthermore finally lastly "
    "however therefore overall importantly again also just only even still yet more most many "
    "much some any each every both other another such same new old next last previous current "
    "recent total net gross adjusted income revenue revenues margin cash debt equity interest tax "
    "taxes cost costs expense expenses earnings guidance outlook absolutely right correct exactly "
    "indeed certainly obviously clearly basically actually really very happy glad uh um mister "
    "doctor army navy biomet energy er ah mm hmm eh"
)


#: Words of names of offices, places and products.
_THINGS = word_set(
    "commission committee department agency authority association institute university college "
    "hospital council court bureau office ministry foundation union league club church society "
    "academy center centre plant project program programme award street road avenue river lake "
    "county city state province power powers pack connect army navy force park tower act fund "
    "index survey report study trial platform app cloud studio media news times journal post "
    "review day week forum summit festival conference meeting model series version edition"
)


def mine_people(
    turns: Sequence[Turn], companies: Sequence[str] = (), known: Sequence[str] = ()
) -> list[str]:
    """Return the people whom a document presents as its own and who are not known yet.

    Parameters
    ----------
    turns : sequence of Turn
        Turns of the presentation part, and the operator's before it: who asks is not presented.
    companies : sequence of str
        Names of the document's company, which are no people.
    known : sequence of str
        Names of people known already; not returned again.

    Returns
    -------
    list of str
        Full names before single ones, by first appearance. A single name that is the first or last
        name of one of the full ones, known or found, is left out: its forms find it anyway.
    """
    own = Matcher(
        [{"kind": "company", "value": c, "placeholder": "[Company Name]"} for c in companies],
        {"company": IdentifierKind(placeholder="[Company Name]", rule="company")},
    )
    framed: Counter[str] = Counter()
    texts = [_FILLER.sub(" ", re.sub(r"\s+", " ", normalize(turn.text).text)) for turn in turns]
    whole = " ".join(texts)

    tokens = Counter(whole.split())

    def lowered(word: str) -> int:
        return sum(tokens[word + mark] for mark in ("", ",", "."))

    begun = 0
    for text in texts:
        for name, strength in _framed(text, own, begun):
            if clean := _person(name, strength, own, lowered):
                framed[clean] += 1
        begun += len(text)
    found = [name for name, n in framed.items() if not _is_thing(name, n, whole)]
    return _without_known(found, known)


def _is_thing(name: str, framed: int, text: str) -> bool:
    """Whether one word is mostly used where no person stands: a partner, a product."""
    if " " in name or fold(name) in NICKNAMES:
        return False
    uses = len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", text))
    return uses >= 4 and framed < 0.2 * uses


#: How sure a frame is: of a full name without common words, of any full name, of one word.
_WEAK, _FULL, _SINGLE = 0, 1, 2


def _framed(text: str, own: Matcher, begun: int) -> Iterable[tuple[str, int]]:
    """Yield what stands where a person's name stands, and how sure the frame is."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        words = run.group().split()
        titled = False
        while words and (fold(words[0].strip(".")) in _NO_NAMES or opens_sentence(words[0])):
            # "Thanks Tom", "And Mr. Jim Roe": but "Will Grant" keeps its first word.
            if len(words) > 1 and fold(words[0]) in NICKNAMES and fold(words[0]) not in _NO_NAMES:
                break
            titled |= fold(words[0].strip(".")) in _TITLES
            start += len(words.pop(0)) + 1
        if not words:
            continue
        if len(words) > 2 and (hits := own.find(text[start:end])) and hits[0].start == 0:
            # "NextEra Energy Rebecca Kujawa"
            rest = text[start + hits[0].end : end].lstrip(" ")
            if not rest or " " not in rest:
                continue
            start, words = end - len(rest), rest.split()
        strength = _presented(text, start, end, len(words), own)
        if titled or strength is not None:
            yield " ".join(words), _SINGLE if titled or strength is None else strength
        elif (
            len(words) > 1
            and begun + start < _OPENING
            and not _ARTICLE.search(text, max(0, start - 6), start)
        ):
            sentence = max(text.rfind(". ", 0, start), text.rfind("? ", 0, start)) + 1
            if _PRESENT.search(text, max(sentence, start - 900), end + 80):
                yield " ".join(words), _WEAK


#: The last word before a name in one of the frames that end there.
_LAST_WORDS = word_set(
    "know all proud grateful pleased delighted happy excited "
    "to with on by as of for is and our my the your colleague partner friend speaker speakers "
    "host hosts today good moderator presenter first remarks few thanks you much lot again "
    "morning afternoon evening welcome okay great perfect yes sure ahead yours begin proceed now "
    "i'm i’m am name's both welcoming congratulate congratulating appointed appointing promoted "
    "hired hire introduce introducing invite thank colleagues founder successor predecessor "
    "replace replacing also then like that what officer executive president chairman chairwoman "
    "chair chairperson director head relations ir manager counsel treasurer controller cofounder "
    "co-founder secretary ceo cfo coo cto cio cmo cso cro cco chro iro vp svp evp staff finance "
    "operations marketing sales development affairs strategy communications technology"
)


def _is_part(name: str, own: Matcher) -> bool:
    """Whether "head of X" means a part of the own company: its name, a function, a region."""
    first = fold(name.split()[0])
    known = first in _NO_NAMES or first in DEMONYMS or first in COMMON_WORDS
    return known or first in place_names() or bool(own.find(f"x {name} x"))


def _presented(text: str, start: int, end: int, n_words: int, own: Matcher) -> int | None:
    """Whether what stands around a name presents it, and how surely."""
    after = text[end : end + 1]
    if _ARTICLE.search(text, max(0, start - 6), start):
        return None
    if after in (",", " ") and (role := _IS_OFFICER.match(text, end)):
        other = _ELSEWHERE.match(role["rest"])
        if n_words == 1:
            own_role = role["own"] or " the company" in role.group()[:40]
            return _SINGLE if own_role else None
        if role["own"] or not other or _is_part(other["name"], own):
            return _FULL
    if after in (",", " ", "."):
        if _SPEAKS.match(text, end) or _SAID.match(text, end) or _AND_I.match(text, end):
            return _SINGLE
        if n_words > 1 and _WHO.match(text, end):
            return _FULL
        if _WALKS.match(text, end):
            return _SINGLE
        if _WILL.match(text, end):
            return _WEAK
    before = text[max(0, start - 100) : start]
    last = before.rstrip(" ,").rpartition(" ")[2].lower()
    if last not in _LAST_WORDS:
        return None
    if _HANDED.search(before) or _SELF.search(before):
        return _SINGLE
    if after in (",", ".", "!", "?", "") and _THANKED.search(before):
        return _SINGLE
    if role := _OFFICER.search(before):
        return _SINGLE if role["own"] and not role["of"] else _FULL
    return _FULL if _NAMED.search(before) else None


def _person(name: str, strength: int, own: Matcher, lowered: Callable[[str], int]) -> str:
    """A captured name cut down to a person's; empty where it is none."""
    words = name_words(name)
    while words and (fold(words[0]) in _NO_NAMES or opens_sentence(words[0])):
        # "Thanks Tom", "And Jim": but "Will Grant" keeps its first word.
        if fold(words[0]) in NICKNAMES and fold(words[0]) not in _NO_NAMES and len(words) > 1:
            break
        words = words[1:]
    kept: list[str] = []
    for word in words:
        if fold(word) in _NO_NAMES or (fold(word) in DESCRIPTORS and kept):
            break
        kept.append(word)
    while kept and (kept[-1].lower() in PARTICLES or len(squeeze(kept[-1])) == 1):
        kept.pop()
    if len(kept) > 1 and len(squeeze(kept[0])) == 1 and len(kept) < 3:
        return ""
    kept = [w for n, w in enumerate(kept) if not n or fold(w) != fold(kept[n - 1])]
    while len(kept) > 1 and fold(kept[0]) in DESCRIPTORS:
        kept.pop(0)
    if not kept:
        return ""
    folded = [fold(w) for w in kept]
    given = folded[0] in NICKNAMES
    shown = " ".join(kept)
    if squeeze(shown) in place_names() or any(w in DEMONYMS for w in folded):
        return ""
    if own.find(f"x {shown} x"):
        return ""
    letters = [w for w in kept if w.isupper() and len(w) > 1]
    # J.J. and TJ are first names, other capitals abbreviations.
    if (
        any("J" not in w or len(squeeze(w)) > 2 or w != kept[0] for w in letters)
        or set(folded[1:]) & _THINGS
    ):
        return ""
    if (folded[0] in place_names() and strength == _WEAK) or re.search(
        r"(?<!\w)\w-|-\w(?!\w)", shown
    ):
        # "Missouri Public Service", "E-One", "R-Rebecca".
        return ""
    if len(kept) == 1:
        if strength < _SINGLE and not given:
            return ""
        if len(folded[0]) < 2 or (folded[0] in COMMON_WORDS and not given):
            return ""
        if (
            folded[0].endswith("ing")
            or opens_sentence(kept[0])
            or folded[0] in DESCRIPTORS
            or lowered(folded[0]) > 1 + 2 * given
        ):
            return ""
        return shown
    common = [
        w for w in folded if w in COMMON_WORDS or w in DESCRIPTORS or (len(w) > 3 and lowered(w))
    ]
    if not given and len(common) >= (1 if strength == _WEAK else len(folded)):
        return ""
    if folded[-1] in DESCRIPTORS and not given:
        return ""
    return shown


def _without_known(found: Sequence[str], known: Sequence[str]) -> list[str]:
    seen = {squeeze(" ".join(name_words(k))) for k in known}
    singles: set[str] = set()
    for name in known:
        singles.update(_single_forms(name))
    kept = []
    for name in sorted(found, key=lambda n: len(n.split()) == 1):
        key = squeeze(name)
        if key in seen or (len(name.split()) == 1 and key in singles):
            continue
        seen.add(key)
        singles.update(_single_forms(name))
        kept.append(name)
    return kept


def _single_forms(name: str) -> set[str]:
    words = [squeeze(w) for w in name_words(name)]
    return {*words[:1], *words[-1:], *NICKNAMES.get(words[0] if words else "", ())}


__all__ = ["mine_people"]
