"""Where identifiers stand in a text.

A match starts where a word starts and ends where one ends (or before its plural or possessive s);
nothing is replaced inside other words.

One pass over the words of a text finds all names of all identifiers: each position asks a
dictionary of all beginnings of all forms whether it is worth going on, so time is linear in the
text and does not depend on the number of identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from nes_spark.config import IdentifierKind
from nes_spark.config.sections import default_kinds
from nes_spark.text.addresses import FINDERS
from nes_spark.text.forms import (
    ANY,
    CAPITAL,
    CONTEXT,
    GAP,
    MAX_WORDS,
    SENTENCE_END,
    SMALL_WORDS,
    TITLE,
    UPPER,
    WORD,
    Form,
    company_forms,
    fold,
    is_capital,
    legal_words,
    opens_sentence,
    person_forms,
    sounds_like,
    squeeze,
)
from nes_spark.text.vocabulary import ACRONYMS, COMMON_WORDS, NICKNAMES

_WORDS = re.compile(f"({WORD.pattern})")


@dataclass(frozen=True)
class Identifier:
    """A direct identifier of a document: its kind, its value, and what replaces it."""

    kind: str
    value: str
    placeholder: str


class Match(NamedTuple):
    """An occurrence of a direct identifier.

    Attributes
    ----------
    start, end : int
        Half-open offsets in code points.
    kind : str
        Configured kind, for example ``company``.
    placeholder : str
        What replaces it; ``#`` not yet numbered for web and mail addresses and phone numbers.
    value : str
        The identifier; for addresses and numbers the text found.
    rule : str
        How it was recognised: ``name``, ``part`` (head of a company name, last or first name),
        ``ticker``, ``url``, ``email``, ``phone``, ``literal``, ``pattern``.
    """

    start: int
    end: int
    kind: str
    placeholder: str
    value: str
    rule: str


def _attribute(item: Any, name: str) -> str:
    value = item[name] if isinstance(item, Mapping) else getattr(item, name)
    return str(value)


#: Rules of kinds that are found without being listed.
SHAPES = ("url", "email", "phone", "pattern")


class _Words:
    """The words of a text in order, each with where it begins and ends."""

    def __init__(self, text: str) -> None:
        # gaps and words in turn; cheaper than a match object or a tuple a word
        parts = _WORDS.split(text)
        self.spelled = parts[1::2]
        self._bounds = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return len(self.spelled)

    def __getitem__(self, i: int) -> tuple[str, int, int]:
        return self.spelled[i], self._bounds[2 * i], self._bounds[2 * i + 1]


class Matcher:
    """The forms of a set of identifiers, ready to be found in texts.

    Parameters
    ----------
    identifiers : iterable of Identifier (or rows and mappings with the same fields)
        Of one document.
    kinds : mapping of str to IdentifierKind, optional
        Configured kinds; the default ones when omitted.
    allow : iterable of str
        Forms that are never matched.
    """

    def __init__(
        self,
        identifiers: Iterable[Any],
        kinds: Mapping[str, IdentifierKind] | None = None,
        allow: Iterable[str] = (),
    ) -> None:
        self.kinds = dict(kinds) if kinds is not None else default_kinds()
        self.items = [
            Identifier(_attribute(i, "kind"), _attribute(i, "value"), _attribute(i, "placeholder"))
            for i in identifiers
        ]
        self.allow = frozenset(squeeze(a) for a in allow)
        self.forms: dict[str, list[Form]] = {}
        for owner, item in enumerate(self.items):
            if item.kind not in self.kinds:
                continue
            for key, form in self._forms(owner, item):
                if key and key not in self.allow:
                    self.forms.setdefault(key, []).append(form)
        for forms in self.forms.values():
            forms.sort(key=lambda f: (f.rule != "name", f.rule == "first", f.owner))
        self.beginnings = {key[:n] for key in self.forms for n in range(1, len(key) + 1)}
        self.rules = {name: kind.rule for name, kind in self.kinds.items() if kind.rule in SHAPES}
        self.patterns = {
            name: re.compile(kind.pattern)
            for name, kind in self.kinds.items()
            if kind.pattern is not None
        }
        shown = sorted({k.placeholder for k in self.kinds.values()})
        self._placeholder = re.compile(
            "|".join(re.escape(p).replace(r"\#", r"\d+") for p in shown) or r"(?!)"
        )

    def _forms(self, owner: int, item: Identifier) -> Iterable[tuple[str, Form]]:
        rule = self.kinds[item.kind].rule
        if rule == "company":
            yield from company_forms(owner, item.value)
        elif rule == "person":
            yield from person_forms(owner, item.value)
        elif rule == "ticker":
            symbol = item.value.rpartition(":")[2].strip()
            vague = len(symbol) < 2 or symbol.upper() in ACRONYMS
            yield (
                squeeze(symbol),
                Form(owner, CONTEXT if vague else UPPER, "ticker", len(WORD.findall(symbol))),
            )
        else:
            # Addresses, numbers and literals that the input names are matched as they are.
            words = WORD.findall(item.value)
            yield squeeze(item.value), Form(owner, ANY, "literal", len(words))

    # ----------------------------------------------------------------------------- finding

    def find(self, text: str) -> list[Match]:
        """Return the occurrences in a text, in order and without overlaps.

        Of overlapping candidates the one that starts first is taken, of those the longest.
        """
        return self.settle(text, self.candidates(text))

    def candidates(self, text: str) -> list[Match]:
        """Return what may be an occurrence, by what stands around it.

        They can be looked for in parts of a text that overlap. Patterns of the configuration, which
        may look at anything, are left to :meth:`settle`.
        """
        found: list[Match] = []
        for name, rule in self.rules.items():
            if rule != "pattern":
                found += self._spans(name, text, FINDERS[rule](text))
        return [*found, *self._names(text)]

    def settle(self, text: str, found: Iterable[Match]) -> list[Match]:
        """Return what :meth:`find` does, given the candidates."""
        found = list(found)
        for name, pattern in self.patterns.items():
            found += self._spans(name, text, (m.span() for m in pattern.finditer(text)))
        masked = self.placeholders(text)
        order = {name: n for n, name in enumerate(self.rules)}
        last = len(order)
        found.sort(key=lambda m: (m.start, -m.end, order[m.kind] if m.rule in SHAPES else last))
        kept: list[Match] = []
        end = mask = 0
        for match in found:
            while mask < len(masked) and masked[mask][1] <= match.start:
                mask += 1
            if mask < len(masked) and masked[mask][0] < match.end:
                continue
            if match.start >= end:
                kept.append(match)
                end = match.end
        return kept

    def placeholders(self, text: str) -> list[tuple[int, int]]:
        """Return where placeholders of the configured kinds stand; nothing is found inside."""
        return [m.span() for m in self._placeholder.finditer(text)]

    def _spans(self, name: str, text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Match]:
        kind = self.kinds[name]
        for start, end in spans:
            value = text[start:end]
            if end > start and squeeze(value) not in self.allow:
                yield Match(start, end, name, kind.placeholder, value, kind.rule)

    def _names(self, text: str) -> Iterable[Match]:
        if not self.forms:
            return
        words = _Words(text)
        beginnings, forms = self.beginnings, self.forms
        useful = {
            w
            for w in set(words.spelled)
            if (f := fold(w)) in beginnings or (f[-1:] == "s" and f[:-1] in forms)
        }
        if not useful:
            return
        done = -1
        for i in [k for k, w in enumerate(words.spelled) if w in useful]:
            if i <= done:
                continue
            key = fold(words.spelled[i])
            best: tuple[int, int, Form] | None = None
            j = i
            while True:
                known = forms.get(key)
                if known is not None and (form := self._fits(text, words, i, j, known)):
                    best = (j, words[j][2], form)
                elif key not in beginnings and key[-1:] == "s" and fold(words.spelled[j]) != "s":
                    # Plural or possessive without an apostrophe: "SiTimes", "GCPs".
                    known = forms.get(key[:-1])
                    form = self._fits(text, words, i, j, known) if known else None
                    if form and len(key) > 3 and form.rule != "first" and is_capital(words[i][0]):
                        best = (j, words[j][2] - 1, form)
                if key not in beginnings or j + 1 >= len(words) or j + 1 - i >= MAX_WORDS:
                    break
                gap = text[words[j][2] : words[j + 1][1]]
                if len(gap) > 4 and gap.strip():
                    break
                if gap.strip() and not GAP.fullmatch(gap):
                    break
                j += 1
                key += fold(words.spelled[j])
            if best is None:
                continue
            last, end, form = best
            start, end, last = self._extend(text, words, i, last, end, form)
            item = self.items[form.owner]
            rule = "part" if form.rule == "first" else form.rule
            if start >= 0:
                done = last
                yield Match(start, end, item.kind, item.placeholder, item.value, rule)

    def _fits(
        self,
        text: str,
        words: _Words,
        i: int,
        j: int,
        known: Sequence[Form],
    ) -> Form | None:
        """The first form whose spelling words i to j have."""
        parts = words.spelled[i : j + 1]
        for form in known:
            if len(parts) != form.n_words:
                # Split or joined spellings: only for names long enough not to arise by chance.
                length = sum(len(p) for p in parts)
                if length < 5 or not is_capital(parts[0]):
                    continue
                # Letters spread out one by one ("M o n r o") spell a name, short scraps do not.
                spelled = all(len(p) == 1 for p in parts)
                if not spelled and max(len(p) for p in parts) < 3:
                    continue
                if not spelled and form.rule != "name" and len(parts) > form.n_words + 1:
                    continue
            case = form.case
            if case == CAPITAL and not is_capital(parts[0]):
                continue
            if case == TITLE and not all(is_capital(p) or fold(p) in SMALL_WORDS for p in parts):
                continue
            if case in (UPPER, CONTEXT) and form.rule in ("ticker", "name", "part"):
                if form.rule == "ticker" or case == UPPER:
                    if not all(p.isupper() or p.isdigit() or p == "&" for p in parts):
                        continue
                elif not is_capital(parts[0]):
                    continue
            if case == CONTEXT and not self._context(text, words, i, form):
                continue
            if not form.opening and SENTENCE_END.search(
                text[max(0, words[i][1] - 8) : words[i][1]]
            ):
                # A sentence may start with this word; what follows decides.
                after = text[words[j][2] : words[j][2] + 2]
                if after[:1] not in (",", ".", "?", "!") and after not in ("'s", "’s"):
                    continue
            if form.rule == "first" and not self._alone(text, words, j, form):
                continue
            return form
        return None

    @staticmethod
    def _context(text: str, words: _Words, i: int, form: Form) -> bool:
        """Whether a name that is an ordinary word stands where a name must be."""
        before = text[max(0, words[i][1] - 24) : words[i][1]]
        if form.rule == "ticker":
            return bool(
                re.search(
                    r"\b(?:ticker|symbol|nyse|nasdaq|amex|lse|otcqx|otc)\W+(?:\w+\W+)?$",
                    before,
                    re.IGNORECASE,
                )
            )
        if i and words[i - 1][2] >= words[i][1] - 2:
            return fold(words[i - 1][0]) in ("mr", "mrs", "ms", "miss", "dr", "prof", "sir")
        return False

    @staticmethod
    def _alone(text: str, words: _Words, j: int, form: Form) -> bool:
        """Whether a first name is not followed by somebody else's last name."""
        if j + 1 >= len(words):
            return True
        word, start, _ = words[j + 1]
        if text[words[j][2] : start] != " " or not word[:1].isupper() or word.isupper():
            return True
        if not form.last_name:
            return True
        return (
            fold(word) in COMMON_WORDS or opens_sentence(word) or sounds_like(word, form.last_name)
        )

    def _extend(
        self,
        text: str,
        words: _Words,
        i: int,
        j: int,
        end: int,
        form: Form,
    ) -> tuple[int, int, int]:
        """Take in what belongs to a name: legal forms, a misheard first or last name."""
        start = words[i][1]
        rule = self.kinds[self.items[form.owner].kind].rule
        if rule == "company":
            legal = legal_words()
            while j + 1 < len(words) and words[j][2] == end:
                word, begin, stop = words[j + 1]
                gap = text[end:begin]
                if gap not in (" ", ", ") or fold(word) not in legal or not is_capital(word):
                    break
                end, j = stop, j + 1
        elif rule == "person" and form.rule == "first" and j + 1 < len(words):
            # A misheard last name, or the last name of somebody known by the first alone.
            word, begin, stop = words[j + 1]
            named = text[end:begin] == " " and word[:1].isupper() and not word.isupper()
            named = named and not opens_sentence(word) and fold(word) not in COMMON_WORDS
            if named and (not form.last_name or sounds_like(word, form.last_name)):
                end, j = stop, j + 1
        elif rule == "person" and form.rule == "part" and i:
            word, begin, stop = words[i - 1]
            if text[stop:start] == " " and word[:1].isupper() and len(word) > 1:
                names = {fold(form.first_name), *NICKNAMES.get(fold(form.first_name), ())}
                # A namesake with another executive's first name: left alone, it would point there.
                known = any(f.rule == "first" for f in self.forms.get(fold(word), ()))
                if (
                    known
                    or fold(word) in names
                    or (word[0] == form.first_name[:1] and fold(word) not in COMMON_WORDS)
                ):
                    start = begin
        if text[end - 2 : end] in ("'s", "’s"):
            end -= 2
        return start, end, j
