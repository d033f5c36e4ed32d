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
from nes_spark.text.normalizing import in_one_line, normalize
from nes_spark.text.presentation import Turn
from nes_spark.text.sentences import FILLERS, has_filler, word_set
from nes_spark.text.spots import standing
from nes_spark.text.vocabulary import (
    COMMON_WORDS,
    DEMONYMS,
    DESCRIPTORS,
    NICKNAMES,
    PARTICLES,
    RANKS,
)

_THEN = r"(?:\w|['’](?=[A-ZÀ-ÖØ-Þ])|[-‐‑](?=\w)|\.(?=[A-Z]\b))*"
_CAP = rf"[A-ZÀ-ÖØ-Þ]{_THEN}"
_LATER = rf"(?:(?:(?:de|di|du|da|la|le|van|von|ter|mac|mc)|(?:d|dell|dall)['’])(?=[A-Z])\w+|{_CAP})"
_PART = r"(?:von|van|der|den|de|del|della|di|da|dos|du|la|le|bin|al|el|ter|ten|zu)"
#: A run of capitalised words, with initials and particles between them. Like others below, it
#: begins with a letter, as patterns do that are found fast.
_RUN = re.compile(
    rf"[A-ZÀ-ÖØ-Þ](?<![\w'’-].)(?:(?:(?<=M)(?:r|s|rs)|(?<=D)r|(?<=P)rof)\. {_CAP}|{_THEN})"
    rf"(?:(?:(?<=\b[A-Z])\.)? (?:{_PART} ){{0,2}}{_LATER}){{0,8}}"
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
    r"(?P<own> (?:our|my)(?: [a-z'’-]+){0,2})?"
    r"(?: the(?: company['’]s| group['’]s)?| its| an?| [A-Z]\w+['’]s?)?"
    rf"(?: new| own)? (?:{_ROLE})(?P<rest>[^.;\n]{{0,60}})"
)
#: A role of somebody else's company: "Jim Smith, CEO of Globex".
_ELSEWHERE = re.compile(
    r"(?:[\w ]{0,30}?) (?:of|at|from|"
    r"with) (?:the )?(?P<name>[A-Z][\w&’'-]+(?: [A-Z][\w&’'-]+){0,3})"
)
#: Before a name: a role.
_OFFICER = re.compile(
    rf"(?P<own>\b(?:[Oo]ur|[Mm]y)(?: \w+)? )?\b{_ROLE}"
    r"(?P<of>(?: of| for|,? and|,? &|,) [\w&' -]{1,40})?,? $"
)
#: What one has with a company, and hands over to nobody.
_DEALS = (
    "agreement|alliance|case|collaboration|contract|deal|discussions?|dispute|merger|negotiations?|"
    "option|partnership|relationship|settlement|talks|transaction"
)
_HANDED = re.compile(
    r"\b(?:turn\w*|hand(?:s|ed|ing)?|pass(?:e[sd]|ing)?|giv\w+|transfer|switch|move|go|kick|toss|throw|flip|bring|"
    r"yield|cede|"
    r"send|start|begin|call|conference|meeting|floor|[Oo]ver|[Bb]ack)\b"
    # "won back Acme, which had moved to Globex", "back to the transaction with Acme"
    rf"(?:(?!, which |(?<=[a-z] )(?:{_DEALS}) with )[^.?!\n]){{0,64}}?\b(?:to|with|on) "
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
    r"suggested|commented|detailed|spoke|articulated|reminded|emphasized|emphasised|presented|"
    r"underlined|told)\b"
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
    r"serves|returns?|returned|came|comes|spent|took|takes|recently|previously|most|currently|"
    r"runs?|ran|heads?|headed|manages?|managed|oversees|oversaw)\b"
    r"|,? whom (?:many|most|some|all|you)\b"
    r"| (?:has |have |will |just )*(?:joins?|joined) (?:our|the) "
    r"(?:board|executive|leadership|management)\b"
)
#: Before a full name: whom somebody follows, and who leads.
_FOLLOWED = re.compile(r"\b(?:[Ss]ucceed(?:s|ed|ing)?|[Tt]eam under) $")
#: "Ann and her team": the team of a person.
_TEAM = re.compile(r",? and (?:(?:his|her) (?:whole |entire )?teams?|team)\b")
_THE_TEAM = re.compile(r",? and the (?:whole |entire )?teams?\b")
_PRAISED = re.compile(r"\b(?:by|done|congratulations(?: to)?|acknowledge|thank|thanks to),? $")
#: The second one of several who are thanked: "Thank you, Ann, Bo, and good morning".
_THANKED_TOO = re.compile(rf"\b[Tt]hank(?:s| you),? {_CAP},? (?:and )?$")
_AND_I = re.compile(r" and (?:I|myself|me)\b")
#: Before a place, whoever acts: "the keeper at Oslo told us", "on since Oslo and I told them".
_SINCE = re.compile(r"\b(?:[Aa]t|[Ii]n|[Nn]ear|[Ss]ince) $")
_I_AND = re.compile(r"\b(?:[Mm]yself|with me),? and(?:,? and)? $")
_WITH_US = re.compile(r",? (?:who is |who's )?(?:here )?with (?:me|us)\b")
#: Who is missing is one of the speakers, too.
_ABSENT = re.compile(
    r" (?:is not|isn['’]t|was not|could not|couldn['’]t|cannot|can['’]t|(?:is|was) unable|will not)"
    r"(?: be| to)*(?: able to)?(?: be| join)? (?:here|with us|us|available|present|join|attend)\b"
)
_MISSED = re.compile(r"\b(?:do not|don['’]t|not) have(?: with us)?(?: here| today)*,? $")
#: "Ann, thank you", where a sentence begins.
_ADDRESSED = re.compile(r", (?:thank you|thanks|many thanks|good (?:morning|afternoon|evening))\b")
_BEGINS = re.compile(r"(?:^|[.?!…>]\s|\b(?:[Oo]kay|[Ss]o|[Aa]nd|[Yy]es|[Yy]eah),? )$")
#: What follows a name that was thanked.
_CLOSES = re.compile(r"$|[,.!?]| and (?:good|welcome|hello|hi|thank|everyone)\b")
#: A last name that was not understood.
_LOST = re.compile(r" <(?:unk|inaudible|foreign|crosstalk)>")
#: No name of a person follows one of these: "The Claimant said".
_ARTICLE = re.compile(
    r"\b(?:[Tt]he|an?|new|this|these|those|its|their|your|another|every|each|some) $"
)
#: Where somebody is, and what somebody leads: "joining me in Condor Bay are Bo Leen, who runs it".
_THERE = re.compile(r"\b(?:in|at|near|runs|[Hh]ead of|[Pp]resident of|(?:speak|talk) about) $")
#: Where somebody comes from.
_FROM = re.compile(r"\b(?:from|at) $")
#: What follows was founded, and is nobody.
_FOUNDED = re.compile(r"\b[Ff]ounders? of $")
#: A sentence that says who is there; what it names are people.
_PRESENT = re.compile(
    r"\b(?:join(?:ing|ed|s)? (?:me|us|you|by|today|on)|"
    # "Acme and Globex placed more with us"
    r"(?<!more )(?<!business )(?<!work )(?<!working )with (?:me|us|you)|on (?:the|today's|our|"
    r"this) "
    r"(?:call|line)|participants|present(?:ers|ing)|speakers|hosts|introduc\w+|accompanied|"
    r"(?:together|along) with|alongside|"
    r"represent\w*|"
    r"here (?:today|is|are|with)|hear from|remarks)\b",
    re.IGNORECASE,
)
#: What a speaker says between two names: "Ann, uh, Roe".
_FILLER = re.compile(rf",? (?:{'|'.join(FILLERS)}),? ", re.IGNORECASE)
#: Characters of the opening, in which such sentences count.
_OPENING = 12_000

_NO_NAMES = word_set(
    "neither either nor both between whereas "
    "chairperson besides meanwhile moreover deputy superintendent senator congressman governor "
    "minister justice "
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
    "feb apr jul aug sept oct nov dec tues wed thurs fri "
    "walmart target costco congress senate house government administration department treasury "
    "federal reserve medicare medicaid god jesus speaker moderator host inaudible crosstalk unk "
    "regards related note looking turning moving during despite although while since because "
    "unless until till whereas whether though nevertheless nor lest except "
    "before after under over through within without additionally furthermore finally lastly "
    "however therefore overall importantly again also just only even still yet more most many "
    "much some any each every both other another such same new old next last previous current "
    "recent total net gross adjusted income revenue revenues margin cash debt equity interest tax "
    "taxes cost costs expense expenses earnings guidance outlook absolutely right correct exactly "
    "indeed certainly obviously clearly basically actually really very happy glad uh um mister "
    "doctor army navy biomet energy er ah mm hmm eh cf deloitte kpmg pwc pricewaterhousecoopers "
    "moody moodys moody's fitch gartner nielsen bloomberg reuters touchtone euro "
    "euros dollar dollars rand yen peso pesos zloty reais lira "
    "pounds one two three four five six seven eight nine ten twenty thirty forty fifty sixty "
    "seventy eighty ninety hundred thousand yeah yep yup "
    "alright"
)

#: Roles that part the words of a run: "Committee Outside Director Ann Roe".
_PARTING = word_set(
    "officer director president chairman chairwoman chairperson manager treasurer counsel "
    "secretary ceo cfo coo cto cio cmo svp evp vp sevp ir"
)
#: First names that are also ordinary words.
_FIRST_NAMES = word_set(
    "angel april august carter christian clay cliff cole dale dawn dean drake eve faith felicity "
    "florence georgia glen grace grant heath holly hope hunter ivy jack jade jasmine joy june "
    "lance laurel lily mark marina marshall martin mason may mercy miles olive parker pearl "
    "penny pierce ray raymond reed robin roman rose ruby rusty sage scout sierra stella sterling "
    "summer tanner victor violet virginia wade warren"
)


#: Of the words that no name has those that are last names behind a title: "Mrs Grace Page".
_LAST_NAMES = word_set("april bank east good head march may north page south street wall west")
#: Those behind a first name without a title, and things that are last names: "Jeff Park, our CFO".
_SURNAMES = word_set("page wall west church court day house justice lake park power powers street")
#: What is written behind names: "Ms A. Roe KC".
_HONOURS = frozenset({"CBE", "DBE", "JP", "KBE", "KC", "MBE", "MP", "OBE", "QC", "SC"})
#: A point inside a last name: "Mr Bo St. Roe".
_SAINT = re.compile(r"\. (?P<name>[^\W\d_a-zß-öø-ÿ][^\W\d_]+(?:-[^\W\d_]+)*)")


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
    texts = []
    for turn in turns:
        line = _joined_lines(normalize(turn.text).text)
        texts.append(_FILLER.sub(" ", line) if has_filler(line) else line)
    whole = " ".join(texts)

    tokens = Counter(whole.split())

    def lowered(word: str) -> int:
        return sum(tokens[word + mark] for mark in ("", ",", "."))

    begun = 0
    for text in texts:
        for name, strength in (*_framed(text, own, begun), *_by_title(text)):
            if clean := _person(name, strength, own, lowered):
                framed[clean] += 1
        begun += len(text)
    found = [name for name, n in framed.items() if not _is_thing(name, n, whole)]
    found += [full for name in found for full in _full_names(name, whole, own)]
    found += _misheard([*known, *found], texts, own)
    return _without_known(found, known)


#: Titles that are nothing else in small letters, before a name: "mr bell". Behind "mr and" and the
#: like stands another title.
_SMALL_TITLE = re.compile(
    r"m(?<![\w'’.@/-].)rs?\.? (?P<name>[a-z][a-zß-öø-ÿ]{2,})(?![\w@/-]|['’][^s])"
)
#: A title before a letter alone: "Miss T". "Yes Miss I did" has none.
_LETTER = re.compile(
    r"[MD](?<![\w'’-].)(?:(?<=M)(?:rs?|s|iss|x)|(?<=D)r)\.? (?P<name>[A-HJ-Z])"
    r"(?=\.?(?:['’]s|[,;:!?)|]| [^\W\dA-Z]| ?$)|\. (?P<then>[A-Z][a-z]*)(?!\w))"
)


def _by_title(text: str) -> Iterable[tuple[str, int]]:
    """Yield who has no more than a title before a name in small letters, or before a letter.

    >>> list(_by_title("Ask Miss T about mr bell, mr and mrs of Hull."))
    [('Mr. Bell', 2), ('Mr. T', 2)]
    """
    for found in _SMALL_TITLE.finditer(text):
        name = found["name"]
        if not (opens_sentence(name) or name in _TITLES or name in RANKS):
            yield f"Mr. {name.title()}", _SINGLE
    for found in _LETTER.finditer(text):
        if found["then"] and not opens_sentence(found["then"]):
            continue  # "Mr T. Kumar"
        yield f"Mr. {found['name']}", _SINGLE


#: So many letters a line has that goes on in the next one.
_WRAPPED = 60


def _joined_lines(text: str) -> str:
    """Return a text in one line; no name goes on behind a bar, where a short line ended.

    >>> _joined_lines("Consultant: Dr Ann Roe\\nWard: Oak\\nwith a view")
    'Consultant: Dr Ann Roe | Ward: Oak with a view'
    """
    if "\n" not in text.strip():
        return in_one_line(text)
    joined: list[str] = []
    before = ""
    for line in (in_one_line(line).strip() for line in text.splitlines()):
        if not line:
            before = ""
            continue
        goes_on = line[:1].islower() or len(before) >= _WRAPPED
        joined += ([" " if goes_on else " | "] if joined else []) + [line]
        before = line
    return "".join(joined)


def is_given_name(word: str) -> bool:
    """Return whether a word is listed as a given name; some are ordinary words as well ("Grace").

    Examples
    --------
    >>> is_given_name("Robert"), is_given_name("Grace"), is_given_name("Orchard")
    (True, True, False)
    """
    low = fold(word)
    return low in NICKNAMES or low in _FIRST_NAMES


#: Months that are first names too: "in May Roe left".
_MONTHS = word_set("april may june august")


#: A title or a rank, behind which the last name stands alone.
_TITLED = re.compile(
    rf"\b(?:(?:Mrs?|Ms|Miss|Dr)\.?|{'|'.join(sorted(w.title() for w in RANKS))})\Z"
)
_TITLE_LONGEST = 2 + max(map(len, RANKS))


#: The last word before a place, with a capital, inside a sentence and behind no article, and how
#: many characters it has at most.
_NAME_BEFORE = re.compile(
    r"(?:(?<=[^\W\d_A-Z] )|(?<=[^\W\d_A-Z][,;] ))(?<!\bthe )(?P<name>[A-Z][^\W\d_A-Z]+) \Z"
)
_LONG_FIRST = 60


def _full_names(name: str, text: str, own: Matcher) -> Iterable[str]:
    """Yield the full names of who is known by a surname: of "Mr. Roe", "Ann Roe" as well."""
    if " " in name or not any(
        text[at - 1 : at] == " " and _TITLED.search(text, max(0, at - _TITLE_LONGEST), at - 1)
        for at in standing(name, text)
    ):
        return
    before = (
        _NAME_BEFORE.search(text, max(0, at - _LONG_FIRST), at) for at in standing(name, text)
    )
    for first in dict.fromkeys(found["name"] for found in before if found):
        low = fold(first)
        given = is_given_name(low) and low not in _MONTHS
        other = (
            low in _NO_NAMES
            or low in _TITLES
            or low in RANKS
            or low in DESCRIPTORS
            or low in DEMONYMS
        )
        other = other or low in COMMON_WORDS or low in place_names()
        if (given or not other) and not own.find(f"x {first} x"):
            yield f"{first} {name}"


def _is_thing(name: str, framed: int, text: str) -> bool:
    """Whether one word is mostly used where no person stands: a partner, a product."""
    if " " in name or fold(name) in NICKNAMES:
        return False
    uses = sum(1 for _ in standing(name, text))
    return uses >= 4 and framed < 0.2 * uses


#: How sure a frame is: of a full name without common words, of any full name, of one word.
_WEAK, _FULL, _SINGLE = 0, 1, 2


#: Who serves customers, before a first name: "Rep Dale said". Searched for as a part of the name,
#: "rep" would be found wherever it stands.
_SERVING = word_set("adjuster agent cashier clerk rep representative supervisor teller")
_BEFORE_NAMES = RANKS | _SERVING


def _is_first_of(words: Sequence[str]) -> bool:
    """Whether a first name that is no name elsewhere leads a last name: "Dr May Roe"."""
    if len(words) < 2 or not is_given_name(words[0]):
        return False
    return fold(words[1]) not in _NO_NAMES or fold(words[1]) in _LAST_NAMES


def _framed(text: str, own: Matcher, begun: int) -> Iterable[tuple[str, int]]:
    """Yield what stands where a person's name stands, and how sure the frame is."""
    for start, end in _runs(text):
        words = text[start:end].split()
        titled = ranked = False
        while words and (
            fold(words[0].strip(".")) in _NO_NAMES
            or opens_sentence(words[0])
            or (fold(words[0]) in _BEFORE_NAMES and len(words) > 1)
        ):
            # "Thanks Tom", "And Mr. Jim Roe": but "Will Grant" keeps its first word.
            if len(words) > 1 and fold(words[0]) in NICKNAMES and fold(words[0]) not in _NO_NAMES:
                break
            if titled and _is_first_of(words):
                break
            titled |= fold(words[0].strip(".")) in _TITLES
            ranked = fold(words[0]) in RANKS
            start += len(words.pop(0)) + 1
        while titled and len(words) > 1 and words[-1] in _HONOURS:
            end -= len(words.pop()) + 1
        if titled and len(words) > 1 and words[-1] == "St" and (saint := _SAINT.match(text, end)):
            words.append(saint["name"])
            end = saint.end()
        if not words:
            continue
        if text.endswith("of ", 0, start) and _FOUNDED.search(text, max(0, start - 20), start):
            continue
        if _NOBODY.match(text, end) or _is_town(text, end):
            continue
        if text.startswith(" as ", end) and _FROM.search(text, max(0, start - 6), start):
            continue  # "joined us from Globex as our CFO"
        if len(words) > 2 and (hits := own.find(text[start:end])) and hits[0].start == 0:
            # "NextEra Energy Rebecca Kujawa"
            rest = text[start + hits[0].end : end].lstrip(" ")
            if not rest or " " not in rest:
                continue
            start, words = end - len(rest), rest.split()
        lost = _LOST.match(text, end)
        last = lost.end() if lost else end
        strength = _presented(text, start, last, len(words) + bool(lost), own)
        if titled or (ranked and strength is not None):
            # The title tells that an ordinary word is a name: "Mr. Park".
            yield " ".join(["Mr.", *words]), _SINGLE
        elif strength is not None:
            yield " ".join(words), _SINGLE if lost and strength == _FULL else strength
        elif (
            (len(words) > 1 or lost)
            and begun + start < _OPENING
            and not _ARTICLE.search(text, max(0, start - 6), start)
            and not _THERE.search(text, max(0, start - 13), start)
        ):
            sentence = max(text.rfind(". ", 0, start), text.rfind("? ", 0, start)) + 1
            if _PRESENT.search(text, max(sentence, start - 900), end + 80):
                yield " ".join(words), _WEAK if len(words) > 1 else _SINGLE


#: Behind a date, a firm or a brand: "on Sept. 12", "Roe & Doe, LLC", "Globex®".
_NOBODY = re.compile(
    r"\.? \d|[®™]|\((?:R|TM)\)|(?:,? | & )(?:LLC|L\.L\.C\.|LLP|Inc|Ltd|PLC|Corp|Co|Partners|"
    r"Associates)\b"
)
#: What a name of one place stands before: its state or country.
_REGION = re.compile(r", (?P<name>[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?=[,.;)]|$)")


def _is_town(text: str, end: int) -> bool:
    """Whether a state or country follows, as behind a town: "Condorham, Ohio"."""
    region = _REGION.match(text, end)
    return region is not None and squeeze(region["name"]) in place_names()


def _runs(text: str) -> Iterable[tuple[int, int]]:
    """Yield where runs of capitalised words stand, parted behind the roles inside them."""
    for run in _RUN.finditer(text):
        start = run.start()
        if " " not in run.group():  # most are one word
            yield start, run.end()
            continue
        words = list(re.finditer(r"\S+", run.group()))
        for n, word in enumerate(words):
            if n + 1 < len(words) and fold(word.group()) in _PARTING:
                if n and run.start() + words[n - 1].end() > start:
                    yield start, run.start() + words[n - 1].end()
                start = run.start() + words[n + 1].start()
        yield start, run.end()


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
    "have here me today done congratulations acknowledge "
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
    if _ARTICLE.search(text, max(0, start - 10), start):
        return None
    if after in (",", " ") and (role := _IS_OFFICER.match(text, end)):
        other = _ELSEWHERE.match(role["rest"])
        if n_words == 1:
            own_role = role["own"] or re.search(" the (?:company|group)", role.group()[:40])
            return _SINGLE if own_role else None
        if role["own"] or not other or _is_part(other["name"], own):
            return _FULL
    if after in (",", " ", "."):
        if _WITH_US.match(text, end) or _ABSENT.match(text, end) or _TEAM.match(text, end):
            return _SINGLE
        if _ADDRESSED.match(text, end) and _BEGINS.search(text, max(0, start - 8), start):
            return _SINGLE
        since = _SINCE.search(text, max(0, start - 8), start)
        if _SPEAKS.match(text, end) or _SAID.match(text, end) or _AND_I.match(text, end):
            return None if since else _SINGLE
        if n_words > 1 and _WHO.match(text, end):
            return _FULL
        if _WALKS.match(text, end):
            return _SINGLE
        if _WILL.match(text, end):
            return _WEAK
    before = text[max(0, start - 100) : start]
    if _CLOSES.match(text, end) and _THANKED_TOO.search(before):
        return _SINGLE
    if _I_AND.search(before):
        return _FULL
    if n_words > 1 and _FOLLOWED.search(before):
        return _FULL
    last = before.rstrip(" ,").rpartition(" ")[2].lower()
    if last not in _LAST_WORDS:
        return None
    if _HANDED.search(before) or _SELF.search(before):
        return _SINGLE
    if _THE_TEAM.match(text, end) and _PRAISED.search(before):
        return _SINGLE
    if _CLOSES.match(text, end) and _THANKED.search(before):
        return _SINGLE
    if not before.endswith(("head of ", "Head of ")) and (role := _OFFICER.search(before)):
        return _SINGLE if role["own"] and not role["of"] else _FULL
    return _FULL if _NAMED.search(before) or _MISSED.search(before) else None


#: Of the words that no name has those that stand behind companies' and behind nobody's.
_FIRMS = word_set("bank capital company energy group medical products solutions")


def _is_surname(words: Sequence[str], strength: int) -> bool:
    """Whether the second of two words is a last name, though most often a thing: "Jeff Park"."""
    if len(words) != 2 or fold(words[1]) not in _SURNAMES or fold(words[0]) in _NO_NAMES:
        return False
    first = fold(words[0])
    other = first in COMMON_WORDS or first in DESCRIPTORS or first in place_names()
    return first in NICKNAMES or (strength > _WEAK and not other)


def _person(name: str, strength: int, own: Matcher, lowered: Callable[[str], int]) -> str:
    """A captured name cut down to a person's; empty where it is none."""
    titled = name.startswith("Mr. ")
    words = name_words(name)
    if titled and len(words) == 1 and len(words[0]) == 1:
        return name  # "Miss T": with the title only
    while titled and len(words) > 1 and words[0].isupper() and len(words[0]) < 3:
        words = words[1:]  # "Mr. FM Roe"
    while words and (fold(words[0]) in _NO_NAMES or opens_sentence(words[0])):
        # "Thanks Tom", "And Jim": but "Will Grant" keeps its first word.
        if titled and _is_first_of(words):
            break
        if fold(words[0]) in NICKNAMES and fold(words[0]) not in _NO_NAMES and len(words) > 1:
            break
        words = words[1:]
    kept: list[str] = []
    for n, word in enumerate(words):
        if n == 1 and _is_surname(words, strength):
            kept.append(word)
            continue
        first = titled and n == 0 and _is_first_of(words)
        if first or (titled and n == 1 and len(words) == 2 and fold(word) in _LAST_NAMES):
            kept.append(word)
            continue
        if fold(word) in _NO_NAMES or (fold(word) in DESCRIPTORS and kept):
            # "moved to Grand Condorham Brands" names a company
            company = fold(word) not in _NO_NAMES or fold(word) in _FIRMS
            if len(kept) > 1 and company and not is_given_name(kept[0]):
                return ""
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
    if squeeze(shown) in place_names() or any(w in DEMONYMS or w[:-1] in DEMONYMS for w in folded):
        return ""
    if own.find(f"x {shown} x"):
        return ""
    letters = [w for w in kept if w.isupper() and len(w) > 1]
    # J.J. and TJ are first names, other capitals abbreviations.
    if any("J" not in w or len(squeeze(w)) > 2 or w != kept[0] for w in letters) or (
        set(folded[1:]) & _THINGS and not titled and not _is_surname(kept, strength)
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
        given |= folded[0] in _FIRST_NAMES
        if titled and folded[0] in COMMON_WORDS and folded[0] not in DESCRIPTORS:
            return f"Mr. {shown}"  # with the title only
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
    # "Holly Winter and I": ordinary words both, and the first is a first name too.
    given |= strength > _WEAK and folded[0] in _FIRST_NAMES and folded[0] not in _MONTHS
    if not (given or titled) and len(common) >= (1 if strength == _WEAK else len(folded)):
        return ""
    if folded[-1] in DESCRIPTORS and not given:
        return ""
    return shown


#: Words that begin with no small letter of English.
_SPELLED = re.compile(r"[^\W\d_a-z](?<![\w'’-].)[^\W\d_]{2,}")


def _misheard(names: Iterable[str], texts: Sequence[str], own: Matcher) -> Iterable[str]:
    """Yield words that spell one of the names' words with a letter more, less or another."""
    known = {form for name in names for form in _single_forms(name) if len(form) > 2}
    begun: dict[str, list[str]] = {}
    for form in known:
        begun.setdefault(form[0], []).append(form)
    spelled = Counter(word for text in texts for word in _SPELLED.findall(text))
    near = []
    for word, uses in spelled.items():
        key = fold(word)
        if not word[:1].isupper() or word.isupper() or key in known or uses > 8:
            continue
        if key in COMMON_WORDS or key in _NO_NAMES or key in place_names():
            continue
        if key in DEMONYMS or key in DESCRIPTORS or opens_sentence(word):
            continue
        alike = any(_one_letter(key, other) for other in begun.get(key[0], ()))
        if alike and not own.find(f"x {word} x"):
            near.append((word, key))
    if not near:
        return
    # Beside another word with a capital letter it is a part of some other name.
    parts = {
        word
        for text in texts
        for pair in re.finditer(rf"(?<![.?!,] )(?<!^)({_CAP}) (?=({_CAP}))", text)
        for word in pair.groups()
        if not opens_sentence(pair[1])
    }
    for word, key in near:
        small = re.compile(rf"(?<![\w'’-]){re.escape(key)}(?![^\W\d_])")
        if word not in parts and not any(key in text and small.search(text) for text in texts):
            yield word


def _one_letter(a: str, b: str) -> bool:
    """Whether two words differ by one letter that is doubled, or by any one in a longer word."""
    if a[0] != b[0] or abs(len(a) - len(b)) > 1 or a == b:
        return False
    if re.sub(r"(.)\1", r"\1", a) == re.sub(r"(.)\1", r"\1", b):
        return True
    if min(len(a), len(b)) < 5:
        return False
    n = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return a[n + 1 :] == b[n + 1 :] or a[n:] == b[n + 1 :] or a[n + 1 :] == b[n:]


def _without_known(found: Sequence[str], known: Sequence[str]) -> list[str]:
    seen = {squeeze(" ".join(name_words(k))) for k in known}
    singles: set[str] = set()
    for name in known:
        singles.update(_single_forms(name))
    kept = []
    for name in sorted(found, key=lambda n: len(n.split()) == 1):
        key = squeeze(name)
        words = name_words(name)  # without the title of "Mr. Park"
        if key in seen or (len(words) == 1 and squeeze(words[0]) in singles):
            continue
        seen.add(key)
        singles.update(_single_forms(name))
        kept.append(name)
    return kept


def _single_forms(name: str) -> set[str]:
    words = [squeeze(w) for w in name_words(name)]
    return {*words[:1], *words[-1:], *NICKNAMES.get(words[0] if words else "", ())}


__all__ = ["is_given_name", "mine_people"]
