"""White space between chunks: taken off when a text is cut, put back when it is joined.

The chunks of a document tile it, white space included, but a chunk's text is kept without the white
space at its ends: the same words give the same vector wherever they stand. What is taken off is the
document's form (spaces between sentences, lines, paragraphs); :func:`gaps_between` keeps it and
:func:`join_chunks` puts it back.
"""

from __future__ import annotations

from collections.abc import Sequence


def gaps_between(pieces: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the texts of a document's pieces and the white space before each.

    Parameters
    ----------
    pieces : sequence of str
        The pieces of one document in order, which tile it.

    Returns
    -------
    texts, gaps : list of str
        Texts without white space at their ends; ``gaps[i]`` is all white space between text i - 1
        and text i, ``gaps[0]`` that before the first. White space after the last text is dropped.

    Examples
    --------
    >>> gaps_between(["Good morning.\\n\\n", "Sales rose. ", "Thanks."])
    (['Good morning.', 'Sales rose.', 'Thanks.'], ['', '\\n\\n', ' '])
    """
    texts, gaps, _ = split_gaps(pieces)
    return texts, gaps


def split_gaps(pieces: Sequence[str], left: str = "") -> tuple[list[str], list[str], str]:
    """Return texts, the white space before each, and that after the last: for one piece at a time.

    Parameters
    ----------
    pieces : sequence of str
        As for :func:`gaps_between`.
    left : str, optional
        White space after what came before.
    """
    texts, gaps = [], []
    for piece in pieces:
        text = piece.strip()
        if not text:
            # nothing but white space: all of it goes before the next text
            texts.append("")
            gaps.append(left)
            left = piece
            continue
        lead = len(piece) - len(piece.lstrip())
        texts.append(text)
        gaps.append(left + piece[:lead])
        left = piece[lead + len(text) :]
    return texts, gaps, left


def join_chunks(texts: Sequence[str | None], gaps: Sequence[str]) -> str:
    """Return the text of a document from its chunks as they are released.

    Parameters
    ----------
    texts : sequence of str or None
        Of all chunks of one document, in order; None for one that is not published.
    gaps : sequence of str
        White space before each of them.

    Returns
    -------
    str
        Where chunks are missing, the widest gap around them separates what is left (most line
        breaks, then most characters), so that no two sentences touch and no paragraph is lost.

    Raises
    ------
    ValueError
        When there are not as many gaps as texts, or a gap is more than white space.

    Examples
    --------
    >>> join_chunks(["Good morning.", "Sales rose.", "Thanks."], ["", "\\n\\n", " "])
    'Good morning.\\n\\nSales rose. Thanks.'
    >>> join_chunks(["Good morning.", None, "Thanks."], ["", "\\n\\n", " "])
    'Good morning.\\n\\nThanks.'
    """
    if len(texts) != len(gaps):
        raise ValueError(
            f"join_chunks needs one gap for each text. Got {len(texts)} texts and {len(gaps)} gaps."
        )
    for at, gap in enumerate(gaps):
        if gap.strip():
            raise ValueError(f"Gap {at} of join_chunks is more than white space.")
    parts: list[str] = []
    waiting: list[str] = []  # gaps since the last text that is published
    for text, gap in zip(texts, gaps, strict=True):
        waiting.append(gap)
        if text is None:
            continue
        # white space where the beginning of a document is missing separates nothing
        if parts or len(waiting) == 1:
            parts.append(max(waiting, key=lambda g: (g.count("\n"), len(g))))
        parts.append(text)
        waiting = []
    return "".join(parts)
