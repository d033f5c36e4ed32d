"""How results show themselves: as lines for a terminal, and as a table for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def lines(title: str, pairs: Iterable[tuple[str, object]]) -> str:
    """Return a title and one line a pair, values below each other.

    Examples
    --------
    >>> print(lines("A fit", [("theta", 1.5), ("converged", True)]))
    A fit
      theta      1.5
      converged  True
    """
    shown = [(name, str(value)) for name, value in pairs]
    width = max((len(name) for name, _ in shown), default=0)
    return "\n".join([title, *(f"  {name:<{width}}  {value}" for name, value in shown)])


def table(
    title: str, rows: Iterable[Sequence[object]], head: Sequence[str] = (), note: str = ""
) -> str:
    """Return an HTML table with a caption; everything is escaped.

    Examples
    --------
    >>> table("A < B", [("x", 1)])
    '<table><caption>A &lt; B</caption><tbody><tr><th>x</th><td>1</td></tr></tbody></table>'
    """
    names = "".join(f"<th>{escape(str(name))}</th>" for name in head)
    body = "".join(
        f"<tr><th>{escape(str(first))}</th>"
        + "".join(f"<td>{escape(str(value))}</td>" for value in rest)
        + "</tr>"
        for first, *rest in rows
    )
    top = f"<thead><tr>{names}</tr></thead>" if names else ""
    below = f"<p>{escape(note)}</p>" if note else ""
    caption = f"<caption>{escape(title)}</caption>"
    return f"<table>{caption}{top}<tbody>{body}</tbody></table>{below}"
