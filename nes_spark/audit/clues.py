"""What a language model answered when it was asked which words told whose a text is."""

from __future__ import annotations

import re

from nes_spark.entities.distinctive import FUNCTION_WORDS

#: What lists begin and end their lines with.
_MARKS = re.compile(r"^\s*(?:[-*•–+]|\(?\d{1,3}(?:[.):]| [-–]))\s+")
_QUOTES = "\"'`“”„‘’«»*_ \t\r,;"
#: What else they end with, or are explained behind.
_ENDS = " .!?:;…()"
_AROUND = _QUOTES + _ENDS
#: What explains a clue behind it; and a label, or a clue, before one.
_EXPLAINED = re.compile(r"[`*\"”»]:? .*$| (?:[-–—→(]|->).*$")
_COLON = re.compile(r":\s")
#: Between words.
_SPACE = re.compile(r"\s+")
#: What models write in each other's place.
_ALIKE = str.maketrans(
    dict.fromkeys("‘’‚‛ʼʹ′`´", "'")
    | dict.fromkeys("“”„‟«»″", '"')
    | dict.fromkeys("‐‑‒–—―−﹣－", "-")
)
_LABEL = re.compile(r"(?i:clues?|(?:[QH]|FY)\d+)")
_DASH = re.compile(r"\s*-[\s-]*")
#: Not inside a word.
_EDGE = r"(?:(?<!\w)|(?!\w))"
#: What they answer where nothing tells.
_NOTHING = "none"


def parse_clues(content: str, text: str) -> list[str]:
    """Return the lines of an answer that are words of the text, each once, as they came.

    Parameters
    ----------
    content : str
        One clue a line; marks of lists, quotation marks and ends of sentences around them do not
        matter, nor what explains them behind a colon or a dash.
    text : str
        What was shown. Case and white space do not matter, nor which quotation marks, apostrophes,
        hyphens and dashes there are.

    Returns
    -------
    list of str
        Without lines that the text does not have as whole words: explanations, and what the model
        remembers beside it. "NONE" alone is no clue.

    Examples
    --------
    >>> parse_clues('1. "ready mix": sold\\n- Cement.\\nIts slogan.', "Ready  mix cement sold.")
    ['ready mix', 'Cement']
    """
    known = _plain(text)
    found = []
    for line in content.splitlines():
        given = _MARKS.sub("", line).strip(_QUOTES)
        first = _EXPLAINED.sub("", given)
        for parts in ([given], [given.strip(_AROUND)], [first], _COLON.split(first)):
            words = [part.strip(_AROUND) for part in parts] if parts != [given] else parts
            stand = [clue for part in words if (clue := _of_text(part, known))]
            if len(parts) > 1:  # labels ("Q1: ...") and beginnings of explanations tell nothing
                stand = [clue for clue in stand if not _LABEL.fullmatch(clue) and _tells(clue)]
            found += stand
            if stand:
                break
    return list(dict.fromkeys(found))


def _of_text(words: str, known: str) -> str:
    """Return words as they came where a text has them, '' else; "NONE" is nothing."""
    clue = _SPACE.sub(" ", words)
    plain = _plain(clue)
    if plain == _NOTHING or not re.search(r"\w", plain):
        return ""
    return clue if re.search(f"{_EDGE}{re.escape(plain)}{_EDGE}", known) else ""


def _tells(clue: str) -> bool:
    """Whether there is a word besides those of grammar."""
    return not FUNCTION_WORDS.issuperset(re.findall(r"[^\W_]+", clue.casefold()))


def _plain(text: str) -> str:
    return _DASH.sub("-", _SPACE.sub(" ", text.translate(_ALIKE))).casefold()
