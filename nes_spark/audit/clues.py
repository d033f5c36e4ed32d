"""What a language model answered when it was asked which words told whose a text is."""

from __future__ import annotations

import re

#: What lists begin and end their lines with.
_MARKS = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,3}[.)])\s+")
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
        One clue a line; marks of lists and quotation marks around them do not matter.
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
    >>> parse_clues('1. "ready mix"\\n- Cement\\nIts slogan is famous.', "Ready  mix cement sold.")
    ['ready mix', 'Cement']
    """
    known = _plain(text)
    found = []
    for line in content.splitlines():
        clue = _SPACE.sub(" ", _MARKS.sub("", line).strip(_QUOTES))
        plain = _plain(clue)
        if plain == _NOTHING or not re.search(r"\w", plain):
            continue
        if re.search(f"{_EDGE}{re.escape(plain)}{_EDGE}", known):
            found.append(clue)
    return list(dict.fromkeys(found))


def _plain(text: str) -> str:
    return _DASH.sub("-", _SPACE.sub(" ", text.translate(_ALIKE))).casefold()
