"""What a language model answered when it was asked which words told whose a text is."""

from __future__ import annotations

import re

#: What lists begin and end their lines with.
_MARKS = re.compile(r"^\s*(?:[-*•–+]|\(?\d{1,3}(?:[.):]| [-–]))\s+")
#: What else they end with, or are explained behind.
_ENDS = " .!?:;…()"
_EXPLAINED = re.compile(r"[`*\"”»]:? .*$|:\s.*$| [-–—] .*$")
_QUOTES = "\"'`“”„‘’«»*_ \t\r,;"
#: Between words.
_SPACE = re.compile(r"\s+")
#: What models write in each other's place.
_ALIKE = str.maketrans(
    dict.fromkeys("‘’‚‛ʼʹ′`´", "'")
    | dict.fromkeys("“”„‟«»″", '"')
    | dict.fromkeys("‐‑‒–—―−﹣－", "-")
)
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
        for words in (given, given.strip(_ENDS), _EXPLAINED.sub("", given)):
            clue = _SPACE.sub(" ", words.strip(_QUOTES))
            plain = _plain(clue)
            if plain == _NOTHING or not re.search(r"\w", plain):
                break
            if re.search(f"{_EDGE}{re.escape(plain)}{_EDGE}", known):
                found.append(clue)
                break
    return list(dict.fromkeys(found))


def _plain(text: str) -> str:
    return _DASH.sub("-", _SPACE.sub(" ", text.translate(_ALIKE))).casefold()
