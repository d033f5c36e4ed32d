"""Names that a company goes by, mined from the frames in which a call says whose it is."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from nes_spark.config import IdentifierKind
from nes_spark.text.addresses import email_spans, url_spans
from nes_spark.text.forms import (
    HEADS,
    company_names,
    is_distinctive,
    legal_words,
    name_words,
    place_names,
    squeeze,
)
from nes_spark.text.matching import Matcher
from nes_spark.text.normalizing import in_one_line
from nes_spark.text.presentation import Turn
from nes_spark.text.sentences import FILLERS, has_filler, word_set
from nes_spark.text.spots import matches_around, standing
from nes_spark.text.vocabulary import (
    ACRONYMS,
    COMMON_WORDS,
    DEMONYMS,
    DESCRIPTORS,
    LEADING_DESCRIPTORS,
    MARKETS,
)

_CAP = r"[A-Z0-9À-ÖØ-Þ][\w&’'\-]*(?:\.(?=\w)[\w]+)*"
_NAME = rf"(?P<name>{_CAP}(?:(?:,? (?:and|&|of|de|the|for|in))? {_CAP}){{0,6}})"
_ROLE = (
    r"(?:CEO|CFO|COO|IRO|Chief \w+ Officer|Chief Executive|President|Chairman|Chairwoman|Chair|"
    r"Director|Head|Manager|Officer|Vice President|VP|Treasurer|General Counsel|Secretary|"
    r"Investor Relations(?: \w+)?|IR)"
)
_PERIOD = (
    r"(?:(?:first|second|third|fourth|full|fiscal|quarterly|annual|half|interim|Q[1-4]|H[12]|"
    r"20\d\d|nine|six|three|1Q|2Q|3Q|4Q|[1-4]Q\d\d)\b|earnings|results|quarter|year|financial|"
    r"conference call|investor (?:conference|relations)|webcast)"
)

#: What every role has.
_ROLES = (
    "CEO", "CFO", "COO", "IRO", "Chief ", "President", "Chair", "Director", "Head", "Manager",
    "Officer", "VP", "Treasurer", "General Counsel", "Secretary", "Investor Relations", "IR",
)  # fmt: skip


class _Frame(NamedTuple):
    """What stands around a name.

    Frames are slow, most of all those that begin with the name, so each is tried only on turns that
    hold one of `words`. A frame with a `spot` is tried only around what that finds: every match
    holds one, and has `before` characters at most before it and `after` behind.
    """

    pattern: re.Pattern[str]
    weight: float
    words: tuple[str, ...] = ()
    spot: re.Pattern[str] | None = None
    before: int = 0
    after: int = 0

    def matches(self, text: str, spots: Sequence[tuple[int, int]]) -> Iterator[re.Match[str]]:
        """Yield where it is in a text that has one of its words; with a spot, around `spots`."""
        if self.spot is None:
            return self.pattern.finditer(text)
        return matches_around(self.pattern, text, spots, self.before, self.after)


#: So many characters no name of seven words is thought to have.
_LONG_NAME = 400


def _behind(ends: str, words: str, articles: str) -> re.Pattern[str]:
    """Find a word and the beginning of a name, behind words that end with two of these letters.

    `ends` are the last two letters of all that may stand before; an article may stand between. The
    pattern begins with a space: those that begin with a character are found fast.
    """
    before = "|".join(ends.split())
    sizes = sorted({len(word) for word in words.split()})
    these = "|".join(
        f"(?:{'|'.join(w for w in words.split() if len(w) == n)})(?<=(?:{before}) {'.' * n})"
        for n in sizes
    )
    article = "|".join(re.escape(f"{word} ") for word in articles.split())
    return re.compile(rf" (?:{these}) (?:{article})?[A-Z0-9À-ÖØ-Þ]")


# Names in frames of the opening are nearly always the company's own.
_FRAMES: tuple[_Frame, ...] = (
    _Frame(
        re.compile(
            r"\b(?:[Ww]elcome|[Ww]elcomed|[Jj]oining us|here|[Jj]oin us|[Jj]oining|[Ll]istening)"
            r"(?: you)?(?: all| everyone| everybody| back)?(?: today| again)?"
            r"(?: to| for| on| at| in) (?:the |our |today's |this )?"
            + _NAME
            + rf"(?:'s|’s|s'|'|’)? (?:[\w/]+ ){{0,6}}?{_PERIOD}"
        ),
        3.0,
        spot=_behind(
            "me ed us re ng ou ll ne dy ck ay in", "to on at in for", "the our today's this"
        ),
        before=60,  # "joining us you everybody again"
        after=2 * _LONG_NAME,  # the name, and six words
    ),
    _Frame(
        re.compile(r"\b(?:[Ww]elcome) to (?:the )?" + _NAME + r"(?:'s|’s)? "), 1.5, ("elcome to ",)
    ),
    _Frame(
        re.compile(
            rf"\b{_ROLE}(?:,? (?:and|&) {_ROLE})?(?:,)? (?:of|for|at|with|from) (?:the )?{_NAME}"
        ),
        1.0,
        _ROLES,
    ),
    _Frame(
        re.compile(rf"\b{_ROLE} (?:of|for) [\w ,&]{{1,30}}? (?:of|at) (?:the )?{_NAME}"),
        1.0,
        _ROLES,
    ),
    _Frame(re.compile(_NAME + rf"(?:'s|’s|s')? (?:{_ROLE})\b"), 1.0, _ROLES),
    _Frame(
        re.compile(_NAME + rf"(?:'s|’s|s') (?:\w+ ){{0,2}}?{_PERIOD}"),
        1.0,
        spot=re.compile(rf"['’](?:s|(?<=s')) (?:\w+ ){{0,2}}?{_PERIOD}"),
        before=_LONG_NAME,
        after=1,
    ),
    _Frame(
        re.compile(_NAME + r" (?:earnings|results|conference|quarterly) (?:conference )?call\b"),
        2.0,
        spot=re.compile(r" (?:earnings|results|conference|quarterly) (?:conference )?call\b"),
        before=_LONG_NAME,
        after=1,
    ),
    _Frame(
        re.compile(
            r"\b(?:[Ww]e|[Hh]ere|[Aa]ll of us|[Ee]veryone|[Tt]eams?|[Cc]olleagues|[Pp]eople|"
            r"[Ee]mployees|[Jj]oined|[Jj]oin|[Ii]nterest(?:ed)?|[Cc]onfidence|[Ss]upport|"
            r"[Ss]hareholders|[Ii]nvest(?:ment|ing|ed)?) (?:here )?(?:at|in|of) (?:the )?" + _NAME
        ),
        1.0,
        spot=_behind("we We re us ne am ms es le ed in st ce rt rs nt ng", "at in of", "the"),
        before=60,
        after=_LONG_NAME,
    ),
    _Frame(
        re.compile(
            r"\b(?:[Oo]n behalf of|[Ii]'m from|calling from) (?:the |everyone at |all of us at )?"
            + _NAME
        ),
        1.5,
        ("behalf of ", "'m from ", "calling from "),
    ),
    _Frame(
        re.compile(rf"\b{_NAME},? (?:also )?(?:known|referred to) (?:simply )?as\b"),
        2.0,
        (" known ", " referred "),
    ),
    _Frame(
        re.compile(
            r"\b(?:results|performance|figures|accounts|report|position) of (?:the )?"
            rf"{_NAME} (?:for|in|during) (?:the )?(?:\w+ ){{0,2}}?{_PERIOD}"
        ),
        3.0,
        ("results of ", "performance of ", "figures of ", "accounts of ", "report of "),
    ),
    _Frame(
        # Who owns the speaker's subsidiaries is the company itself, under its full name.
        re.compile(
            rf"\bwholly[- ]owned subsidiary of (?:the )?"
            rf"(?P<name>{_CAP}(?: {_CAP}){{0,4}},? (?i:plc|inc|ltd|limited|corp|llc|ag|nv|sa)\b)"
        ),
        12.0,
        ("owned subsidiary of ",),
    ),
)

#: Frames in which subsidiaries and partners stand, too: tried where nothing else names the company.
_WEAKER: tuple[_Frame, ...] = (
    _Frame(
        re.compile(
            rf"{_NAME}(?:'s|’s|s') (?:\w+ )?(?:results?|profits?|income|cash flows?|revenues?|"
            r"turnover|portfolio|strategy|performance|balance sheet|shareholders|employees|"
            r"management|board)\b"
        ),
        1.0,
        ("'s ", "’s ", "s' "),
    ),
    _Frame(re.compile(rf"\b[Aa]t {_NAME} we\b"), 1.0, ("t ",)),
    _Frame(
        re.compile(
            rf"{_NAME} (?:continues? to|will continue|remains? (?:committed|focused|well)|"
            r"is (?:committed|pleased|well))\b"
        ),
        1.0,
        (" continue", " remain", " is "),
    ),
)

_STOP = word_set(
    "operating caribbean central center centre ii iii foreign assets commodity light power plan "
    "the a an our this that today todays tonight yesterday tomorrow good morning afternoon "
    "evening first second third fourth fifth q1 q2 q3 q4 1q 2q 3q 4q h1 h2 fy fiscal full half "
    "year years quarter quarters quarterly annual interim nine six three twelve month months "
    "earnings results result conference call calls webcast presentation release question "
    "questions answer answers qa qanda financial finance investor investors relations relation "
    "ir ceo cfo coo cto iro chief executive officer president chairman chairwoman chair "
    "director directors vice senior head manager treasurer secretary general counsel board "
    "committee management mr mrs ms dr sir madam january february march april may june july "
    "august september october november december monday tuesday wednesday thursday friday "
    "saturday sunday we i you they he she it its in on at and for of to with from by as is are "
    "was were so but if or then sec gaap non ifrs ebitda covid covid19 operator ladies "
    "gentlemen thank thanks hello hi welcome please day slide page part section europe european "
    "asia america american americas africa north south east west us usa uk eu united states "
    "kingdom china chinese india brazil mexico germany france italy spain japan russia canada "
    "australia latin middle christmas easter safe harbor harbour world global international "
    "group company corporation corp inc ltd limited plc business segment division form 10k 10q "
    "20f 8k speaker corporate strategy sustainability development communications communication "
    "planning marketing sales operations human resources legal accounting audit risk research "
    "zoom team government congress parliament state city federal reserve treasury wall street "
    "new york london house senate bank banks securities capital markets partners analyst "
    "analysts let update updates days week now here there also both each all any other same "
    "next last esg ai hr r&d rnd pr vp svp evp md bu"
)


def _trim(name: str) -> str:
    """Cut a captured name down: nothing from the first calendar or event word on."""
    name = re.sub(r"(['’]s?) \d+$", r"\1", name)  # "Acme's 2 / 1 / 2022 results"
    words = re.sub(r"['’]s\b|['’]$", "", name).replace("’", "'").split()
    while words and (squeeze(words[0]) in _STOP or re.fullmatch(r"\W*\d+\W*", words[0])):
        # "The X" and "Welcome X"; but "First Solar" keeps its first word.
        words.pop(0)
    kept: list[str] = []
    for word in words:
        folded = squeeze(word)
        if folded in _EVENTS or re.fullmatch(r"(?:fy)?\d{2,4}|[1-4]q\d{2,4}|q[1-4]\d{2,4}", folded):
            break
        kept.append(word)
    while kept and (squeeze(kept[-1]) in _TRAILING or not squeeze(kept[-1])):
        kept.pop()
    return " ".join(kept).strip(" ,.-'")


_EVENTS = word_set(
    "first second third fourth q1 q2 q3 q4 1q 2q 3q 4q h1 h2 1h 2h fy fiscal full half year "
    "quarter quarterly annual interim nine six three month months earnings results result "
    "conference call webcast presentation financial investor investors relations ir ceo cfo coo "
    "iro chief executive officer president chairman director head manager vp video audio update "
    "corporate operational business strategy january february march april may june july august "
    "september october november december to this today and or on at we i"
)
_TRAILING = word_set("and of the for in de & to s team call")


#: Characters of a call in which frames count in full.
_OPENING_CHARACTERS = 5_400
#: Characters of a call that are looked at.
_MINED_CHARACTERS = 200_000


def mine_aliases(
    turns: Sequence[Turn],
    companies: Sequence[str] = (),
    people: Sequence[str] = (),
    symbols: Sequence[str] = (),
) -> list[str]:
    """Return names that the document's company goes by and that are not known yet.

    Parameters
    ----------
    turns : sequence of Turn
        The whole call, the operator's turns included: they say whose call it is.
    companies : sequence of str
        Names known already; forms that these cover are not returned.
    people : sequence of str
        Names of people, which are no companies.
    symbols : sequence of str
        Its tickers: a frequent name that is written with their letters is the company's.

    Returns
    -------
    list of str
        By falling evidence. A name needs a frame of the opening ("welcome to the X third quarter
        earnings call") or several weaker ones ("we at X", "X's third quarter", "the CEO of X").
        Then cores of the document's own web addresses, initials, misspelt names, and tickers.
    """
    human = {squeeze(w) for p in people for w in name_words(p)}
    humans = {squeeze(" ".join(name_words(p))) for p in people}

    said = [fluent(t.text) for t in turns]
    whole = " ".join(said)
    proper = _always_capital(whole)

    def plausible(name: str) -> bool:
        return _plausible(name, squeeze(name), human, humans, proper)

    scores, spellings = _scored(turns, said, _said_in(whole, _FRAMES), plausible)
    covered = Matcher(
        [{"kind": "company", "value": c, "placeholder": "[Company Name]"} for c in companies],
        {"company": IdentifierKind(placeholder="[Company Name]", rule="company")},
    )

    def uses(name: str) -> int:
        return sum(1 for _ in standing(name, whole))

    for name in filter(plausible, _written_with(whole, symbols)):
        spellings.setdefault(squeeze(name), Counter())[name] += 1
        scores[squeeze(name)] = scores.get(squeeze(name), 0.0) + 2.0
    if not companies and max(scores.values(), default=0.0) < 1.0:
        more, others = _scored(turns, said, _said_in(whole, _WEAKER), plausible)
        for key, score in more.items():
            scores[key] = scores.get(key, 0.0) + score
            spellings.setdefault(key, Counter()).update(others[key])
    found: list[str] = []
    for key, score in sorted(scores.items(), key=lambda kv: (-kv[1], kv[0])):
        name = max(spellings[key].items(), key=lambda kv: (kv[1], kv[0]))[0]
        # KBFG beside KB: one name with more letters behind it.
        longer = name.isupper() and any(f.isupper() and key.startswith(squeeze(f)) for f in found)
        strong = score >= 2.0 or (score >= 1.0 and (longer or not (found or companies)))
        if not strong or (score < 3.0 and uses(name) < 3):
            continue
        known = any(m.start == 0 and m.end >= len(name) for m in covered.find(name))
        # "Bed Bath" of "Bed Bath and Beyond" is no name; "Kuehne" of "Kuehne Nagel" is.
        piece = any(key in squeeze(c) for c in companies) and not is_distinctive(name.split())
        if not known and not piece and not any(_inside(name, other) for other in found):
            found.append(name)
    further = [
        *_own_domains(whole, [*companies, *found], covered),
        *_longer_initials(whole, [*companies, *found]),
        *_misspelt(whole, [*companies, *found], human),
        *(_TICKER.findall(whole) if any(word in whole for word in _MARKETS) else ()),
    ]
    for name in further:
        if not any(_inside(name, other) for other in (*companies, *found)):
            found.append(name)
    return found


def _said_in(text: str, frames: Sequence[_Frame]) -> list[_Frame]:
    """Of the words that frames need those that a text has, so that each turn is asked for fewer."""
    words = {word for frame in frames for word in frame.words}
    said = {word for word in words if word in text}
    return [frame._replace(words=tuple(filter(said.__contains__, frame.words))) for frame in frames]


def _scored(
    turns: Sequence[Turn],
    spoken: Sequence[str],
    frames: Sequence[_Frame],
    plausible: Callable[[str], bool],
) -> tuple[dict[str, float], dict[str, Counter[str]]]:
    """Sum the evidence of frames for each name (squeezed), and count how it is spelled.

    `spoken` are the fluent texts of the turns. Where the call begins evidence counts in full, later
    frames also name other companies.
    """
    scores: dict[str, float] = {}
    spellings: dict[str, Counter[str]] = {}
    seen: Counter[tuple[str, int, int]] = Counter()
    begins = [0, *accumulate(len(turn.text) + 1 for turn in turns)]
    for n, asked in sorted(_asked(spoken, frames).items()):
        begun, turn, said = begins[n], turns[n], spoken[n]
        if begun > _MINED_CHARACTERS:
            break
        if len(turn.text) > _MINED_CHARACTERS:
            said = fluent(turn.text[:_MINED_CHARACTERS])
        for number, spots in sorted(asked.items()):
            frame = frames[number]
            for match in frame.matches(said, spots):
                name = _trim(match["name"])
                if not plausible(name):
                    continue
                key = squeeze(name)
                spellings.setdefault(key, Counter())[name] += 1
                # In the opening a frame counts once a turn, later the first few times.
                early = n < 6 and begun + match.start() < _OPENING_CHARACTERS
                place = (key, number, n if early else -1)
                seen[place] += 1
                if seen[place] <= (1 if early else 6):
                    scores[key] = scores.get(key, 0.0) + frame.weight * (1 if early else 0.25)
    return scores, spellings


def _asked(
    spoken: Sequence[str], frames: Sequence[_Frame]
) -> dict[int, dict[int, list[tuple[int, int]]]]:
    """Turn -> frames to try on it, each with its spots: all turns are looked through at once."""
    together = "\0".join(spoken)
    ends = list(accumulate(len(said) + 1 for said in spoken))
    asked: dict[int, dict[int, list[tuple[int, int]]]] = {}
    for number, frame in enumerate(frames):
        for found in frame.spot.finditer(together) if frame.spot else ():
            turn = bisect_right(ends, found.start())
            begun = ends[turn - 1] if turn else 0
            spots = asked.setdefault(turn, {}).setdefault(number, [])
            spots.append((found.start() - begun, found.end() - begun))
        for word in frame.words:
            at = together.find(word)
            while at >= 0:
                turn = bisect_right(ends, at)
                asked.setdefault(turn, {}).setdefault(number, [])
                at = together.find(word, ends[turn])
    return asked


def _written_with(text: str, symbols: Sequence[str]) -> list[str]:
    """Capitalised words that a ticker abbreviates: Sappi of SPPJY, Alstom of ALSMY."""
    stems = []
    for symbol in symbols:
        stem = squeeze(symbol.rpartition(":")[2])
        # Foreign shares end in F or Y over the counter.
        stems.append(stem[:-1] if len(stem) == 5 and stem[-1] in "fy" else stem)
    stems = [stem for stem in stems if len(stem) >= 3]
    if not stems:
        return []
    letters = {stem[0] for stem in stems if stem[0].isascii() and stem[0].isalpha()}
    words = Counter(_capitalised("".join(sorted(letters)).upper()).findall(text))
    kept = []
    for word, uses in words.items():
        key = squeeze(word)
        if uses < 3 or key in DEMONYMS or key in DESCRIPTORS:
            continue
        if len(key) < 4 and not word.isupper():
            continue
        if not any(_abbreviates(stem, key) for stem in stems) or _in_small_letters(key, text):
            continue
        # Cementos Argos, Grupo Aval: the next word belongs to it.
        leads = key in LEADING_DESCRIPTORS
        more = re.findall(rf"\b{word} [A-ZÀ-ÖØ-Þ][^\W\d_]{{2,}}", text) if leads else [word]
        kept += sorted(set(more))
    return kept


# Patterns that begin with the letter they look for are four times as fast, with few of them more.


@lru_cache(maxsize=1024)
def _capitalised(letters: str) -> re.Pattern[str]:
    """Words with a capital letter, one of these or one with an accent."""
    return re.compile(rf"[{letters}À-ÖØ-Þ](?<![\w'’.-].)[^\W\d_]{{2,}}(?![\w-])")


@lru_cache(maxsize=64)
def _spelt_with(letter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Long words with this capital letter, and two words of which the first one has it."""
    return (
        re.compile(rf"{letter}(?<!\w.)[A-Za-z]{{4,}}"),
        re.compile(rf"({letter}(?<!\w.)[a-z]{{2,}})(?=( [A-Z][a-z]{{2,}}))"),
    )


_INITIALS = re.compile(r"[A-Z](?<![\w&'’.-].)[A-Z]{2,4}(?![\w&])")
_IN_SENTENCE = re.compile(r"[A-Z](?<=[a-z,] .)[a-z]{3,}(?=[a-z,.]|\W)")
_SMALL_LETTERS = re.compile(r"[a-zß-öø-ÿ]{4,}")


def _in_small_letters(word: str, text: str) -> bool:
    """Whether a text has a word of four letters and more without a capital."""
    known = word in text and _SMALL_LETTERS.fullmatch(word) is not None
    return known and any(True for _ in standing(word, text, _BEHIND_A_HYPHEN, _SMALL))


_INSIDE_A_WORD = re.compile(r"[\w'’]")
_BEHIND_A_HYPHEN = re.compile(r"[\w'’-]")
_SMALL_ASCII, _SMALL = re.compile("[a-z]"), re.compile("[a-zß-öø-ÿ]")


def _abbreviates(stem: str, word: str) -> bool:
    """Whether a word holds a ticker's first three letters in order, the first one in front."""
    if word[:1] != stem[:1]:
        return False
    rest = iter(word)
    return all(letter in rest for letter in stem[:3])


def _longer_initials(text: str, companies: Sequence[str]) -> list[str]:
    """Abbreviations that begin with a name's initials: CCI of Coca-Cola."""
    names = [pair for c in companies for pair in company_names(c)]
    known = {n for n, rule in names if rule == "capitals" and n.isalpha() and 2 <= len(n) <= 4}
    if not known:
        return []
    uses = Counter(_INITIALS.findall(text))
    return [
        word
        for word, n in uses.items()
        if n >= 3
        and word not in ACRONYMS
        and any(word.startswith(k) and len(word) == len(k) + 1 for k in known)
    ]


#: What a speaker says between two words, and what stands for words that were not understood.
_PAUSE = f"(?:{'|'.join(FILLERS)}),? "
_FILLER = re.compile(rf",? {_PAUSE}(?:{_PAUSE})*", re.IGNORECASE)


def fluent(text: str) -> str:
    """Return a text in one line, without what a speaker says between two words ("Ann, uh, Roe")."""
    line = in_one_line(text)
    return _FILLER.sub(" ", line) if has_filler(line) else line


def _inside(name: str, other: str) -> bool:
    return any(
        squeeze(form) == squeeze(name) and rule not in HEADS for form, rule in company_names(other)
    )


def _always_capital(text: str) -> set[str]:
    """Words that stand five times inside a sentence, and never without a capital letter."""
    inside = Counter(_IN_SENTENCE.findall(text))
    proper = {squeeze(w) for w, n in inside.items() if n >= 5}
    small = (_INSIDE_A_WORD, _SMALL_ASCII)
    return {w for w in proper if not any(True for _ in standing(w, text, *small))}


def _plausible(
    name: str, key: str, human: set[str], humans: set[str], proper: Collection[str] = ()
) -> bool:
    words = name.split()
    if len(key) < 2 or not words or not re.search(r"[A-Za-zÀ-ÿ]", name):
        return False
    folded = [squeeze(w) for w in words]
    if key in humans or all(w in human for w in folded):
        return False
    if all(w in _STOP or w in DESCRIPTORS for w in folded):
        return False
    if key in place_names():
        return False
    if len(words) == 1:
        if (key in COMMON_WORDS and key not in proper) or key in _STOP:
            return False
        if name.upper() in ACRONYMS:
            return False
        if len(key) == 2 and not name.isupper():
            return False
    return len(words) <= 6


#: Hosts that many documents name and that are none's own.
_HOSTS = word_set(
    "sec edgar businesswire prnewswire globenewswire newswire youtube twitter linkedin facebook "
    "instagram google gmail outlook hotmail yahoo apple itunes spotify zoom webex microsoft teams "
    "amazon wikipedia bloomberg reuters nasdaq nyse otcmarkets sedar seekingalpha cdc who fda nih "
    "clinicaltrials github medium glassdoor netroadshow webcasts viavid choruscall q4inc icrinc"
)
_SUBDOMAINS = word_set("www ir investor investors invest corporate shareholders about")
_SUFFIXES = word_set("com net org edu gov co or ac gob ltd plc")
_OWN_SITE = re.compile(
    r"\b(?:our|company.s|corporate|the)\b[^.?!]{0,60}\b(?:web ?site|web ?page|site|portal|"
    r"section|page)\b|\bvisit\b|\be-?mail\b",
    re.IGNORECASE,
)
#: "IR at-sign acme, dot, com" as a speaker says it.
_SPOKEN = re.compile(
    r"(?:@ ?|\bat )(?P<core>[A-Za-z][\w-]{2,}),? (?:dot|\.),? ?(?:com|net|org|co|[a-z]{2})\b"
)
_MARKETS = (*MARKETS, "icker", "ymbol")
_TICKER = re.compile(
    rf"\b(?:{'|'.join(MARKETS)}|[Tt]icker(?: symbol)?|[Ss]ymbol)"
    r"(?:\W{1,3}|\W{1,2}(?:is|under)\W{1,2})([A-Z]{2,5})\b"
)


def _own_domains(text: str, companies: Sequence[str], covered: Matcher) -> list[str]:
    """Cores of the web and mail addresses that a text gives as its own (ir.ifeng.com: ifeng)."""
    found: dict[str, None] = {}
    heads = {squeeze(form) for c in companies for form, _ in company_names(c)}
    for spoken in _SPOKEN.finditer(text) if " dot" in text or " ." in text else ():
        core = squeeze(spoken["core"])
        if core not in _HOSTS and core not in COMMON_WORDS and not covered.find(f"x {core} x"):
            found.setdefault(core)
    for start, end in [*url_spans(text), *email_spans(text)]:
        shown = text[start:end].replace(" dot ", ".").replace(" ", "").lower()
        host = re.sub(r"^https?://|^.*@", "", shown).partition("/")[0]
        labels = [w for w in host.split(".") if w]
        own = bool(set(labels[:-1]) & (_SUBDOMAINS - {"www"})) or "@ir." in shown
        own = own or re.match(r"(?:ir|investors?|investor.?relations)@", shown) is not None
        while len(labels) > 1 and (
            labels[-1] in _SUFFIXES or len(labels[-1]) <= 3 or len(labels) > 2
        ):
            if labels[-2] in _SUBDOMAINS:
                break
            labels.pop()
            if labels[-1] not in _SUFFIXES:
                break
        core = labels[-1] if labels else ""
        if len(core) < 3 or set(host.split(".")) & _HOSTS or not re.search("[a-z]", core):
            continue
        near = any(h[:4] == core[:4] for h in heads if len(h) > 3)
        if not (own or near or _OWN_SITE.search(text, max(0, start - 100), start)):
            continue
        if core in COMMON_WORDS or core in DESCRIPTORS or core in _SUBDOMAINS or core in _STOP:
            continue
        if not any(m.start == 0 and m.end == len(core) for m in covered.find(core)):
            found.setdefault(core)
    return list(found)


def _misspelt(text: str, companies: Sequence[str], human: set[str]) -> list[str]:
    """Names with a word that the text spells in another way (Pheonix New Media: Phoenix)."""
    names = [
        (words, n, own)
        for words in (company.split() for company in companies)
        for n, own in enumerate(map(squeeze, words))
        if len(own) > 5
        and not any(own in known for known in (COMMON_WORDS, DESCRIPTORS, legal_words()))
    ]
    if not names:
        return []
    seen: set[str] = set()
    for letter in {own[0] for *_, own in names if own[0].isascii() and own[0].isalpha()}:
        words_of, two_of = _spelt_with(letter.upper())
        seen.update(words_of.findall(text))
        # Two words may be heard for one: Ecopetrol, "Eco Patrol".
        seen.update(first + second for first, second in two_of.findall(text))
    keys = [(other, key) for other in seen if (key := squeeze(other)) not in human]
    found: dict[str, None] = {}
    for words, n, own in names:
        for other, key in keys:
            if key == own or key[0] != own[0] or abs(len(key) - len(own)) > 2:
                continue
            # A name that was misheard is written with nearly the same letters.
            compared = difflib.SequenceMatcher(None, own, key)
            alike = compared.quick_ratio() >= 0.84 and compared.ratio() >= 0.84
            if alike and not re.search(rf"\b{other.lower()}\b", text):
                found.setdefault(" ".join([*words[:n], other, *words[n + 1 :]]))
    return sorted(found)
