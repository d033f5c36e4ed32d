"""Documents with a fixed plan: an opening, then sections of a few sentences each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nes_spark.demo.grammar import Dice, Filled, Page, read_material, render


class Form:
    """Fills the patterns of one material file for one document.

    Parameters
    ----------
    file : str
        Material file.
    dice : Dice
        Source of choices.
    fixed : mapping
        Slot -> filling that stays the same in the document.
    drawn : mapping
        Slot -> function that draws a filling each time.
    """

    def __init__(
        self,
        file: str,
        dice: Dice,
        fixed: Mapping[str, Filled],
        drawn: Mapping[str, Callable[[], Filled]],
    ) -> None:
        self.material = read_material(file)
        self.dice = dice
        self.fixed = fixed
        self.drawn = drawn
        self.recent: set[str] = set()
        self.page = Page()

    def fill(self, slot: str) -> Filled:
        """Return the filling of a slot; drawn ones do not repeat within a sentence."""
        if slot in self.fixed:
            return self.fixed[slot]
        filled = self.drawn[slot]()
        for _ in range(8):
            if filled.text not in self.recent:
                break
            filled = self.drawn[slot]()
        self.recent.add(filled.text)
        return filled

    def write(self, pattern: str, separator: str = " ") -> None:
        """Write a sentence."""
        self.recent.clear()
        if self.page.length:
            self.page.write(separator)
        render(pattern, self.fill, self.dice, self.page)

    def section(self, name: str, low: int, high: int) -> None:
        """Write a section as a paragraph: an opening and some of its sentences in their order."""
        parts = self.material[name]
        self.write(self.dice.pick(parts["open"]), "\n\n")
        wanted = min(self.dice.integer(low, high), len(parts["body"]))
        for position in sorted(self.dice.shuffled(range(len(parts["body"])))[:wanted]):
            self.write(parts["body"][position])

    def spans(self) -> list[list[object]]:
        """Return the gold annotation: start, end, kind, surface."""
        return [[s.start, s.end, s.kind, s.surface] for s in self.page.spans]


def several(dice: Dice, items: Sequence[str], count: int) -> list[str]:
    """Return that many different items."""
    return dice.shuffled(items)[:count]


def entity(text: str, kind: str) -> Filled:
    """Return a filling with its kind; a leading article stays outside the name."""
    if text.startswith("the "):
        return Filled(text[4:], kind, "the ")
    return Filled(text, kind)
