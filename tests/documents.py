"""The commands that the documentation shows, read from its code blocks."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    p for p in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
)
_BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)`((?:nes-spark|make|python -m|mlflow|spark-submit) [^`]+)`(?!`)")


@dataclass(frozen=True)
class Command:
    """One command of a page: its words, without variables set before it."""

    page: str
    words: tuple[str, ...]
    inline: bool = False

    def __str__(self) -> str:
        return f"{self.page}: {' '.join(self.words)}"[:100]


def blocks(page: Path, language: str) -> list[str]:
    """Code blocks of a language on a page, also indented ones of lists and tabs."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^[ \t]+(?=```)", "", text, flags=re.MULTILINE)
    return [content for name, content in _BLOCK.findall(text) if name == language]


def split(text: str) -> list[tuple[str, ...]]:
    """Commands of a shell text: continued lines are joined, comments and settings left out."""
    found = []
    for line in _logical_lines(text):
        words: list[str] = []
        lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;")
        lexer.whitespace_split = True
        lexer.commenters = ""  # in a shell # begins a comment only where a word begins
        for word in [*takewhile(lambda word: not word.startswith("#"), lexer), ";"]:
            if word in ("&&", "||", ";", "|"):
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0], re.DOTALL):
                    words.pop(0)
                if words:
                    found.append(tuple(words))
                words = []
            else:
                words.append(word)
    return found


def _logical_lines(text: str) -> list[str]:
    """Lines, joined where one ends in a backslash or inside quotes."""
    lines: list[str] = []
    open_line = ""
    for line in text.replace("\\\n", " ").splitlines():
        open_line = f"{open_line}\n{line}" if open_line else line
        try:
            shlex.split(open_line, comments=True)
        except ValueError:  # inside quotes
            continue
        lines.append(open_line)
        open_line = ""
    assert not open_line, f"an open quote in: {open_line[:80]}"
    return lines


def commands() -> list[Command]:
    """All commands of all pages: of code blocks, and those in running text."""
    found = []
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        for block in blocks(page, "sh"):
            found += [Command(name, words) for words in split(block)]
        text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
        for inline in _INLINE.findall(text):
            words = tuple(inline.replace("\n", " ").split())
            found.append(Command(name, words, inline=True))
    return found
