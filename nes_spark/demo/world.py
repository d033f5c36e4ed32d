"""The invented world of the demo calls: companies, their people, products, partners and places.

Everything follows from a seed and an index, without state: company 70,000 can be built without the
69,999 before it. Names that many companies share are drawn by power laws (:meth:`Dice.rank`), so a
corpus has a few entities that everybody mentions and many that occur once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from nes_spark.demo.grammar import Dice, read_material

#: Pareto exponents of shared names; a smaller one makes more names that occur once.
ORGANIZATION_EXPONENT = 1.75
PERSON_EXPONENT = 1.25
TARGET_EXPONENT = 1.15


@dataclass(frozen=True)
class Person:
    """A person; ``pronoun`` is she or he."""

    first: str
    last: str
    pronoun: str

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first} {self.last}"

    @property
    def formal(self) -> str:
        """``Ms. Last`` or ``Mr. Last``."""
        return f"{'Ms.' if self.pronoun == 'she' else 'Mr.'} {self.last}"


@dataclass(frozen=True)
class Sector:
    """What companies of one sector have in common."""

    name: str
    trades: tuple[str, ...]
    segments: tuple[str, ...]
    brands: tuple[str, ...]
    nouns: tuple[str, ...]
    words: dict[str, str]
    conferences: tuple[str, ...]
    regulators: tuple[str, ...]


@dataclass(frozen=True)
class Company:
    """A fictional company and everything that its calls draw on."""

    index: int
    name: str
    aliases: tuple[str, ...]
    ticker: str
    website: str
    sector: Sector
    scale: float
    segments: tuple[str, ...]
    old_segment: str
    products: tuple[str, ...]
    customers: tuple[str, ...]
    partners: tuple[str, ...]
    suppliers: tuple[str, ...]
    rivals: tuple[int, ...]
    techs: tuple[str, ...]
    cities: tuple[str, ...]
    states: tuple[str, ...]
    countries: tuple[str, ...]
    regions: tuple[str, ...]
    university: str
    officers: dict[str, tuple[Person, str]] = field(default_factory=dict)


@lru_cache(maxsize=1)
def sectors() -> tuple[Sector, ...]:
    """Return the twelve sectors."""
    found = []
    for heading, parts in read_material("sectors.txt").items():
        words = dict(line.split(": ", 1) for line in parts["vocabulary"])
        found.append(
            Sector(
                heading.removeprefix("sector "),
                parts["trades"],
                parts["segments"],
                parts["brands"],
                parts["nouns"],
                words,
                parts["conferences"],
                parts["regulators"],
            )
        )
    return tuple(found)


def pool(file: str, section: str) -> tuple[str, ...]:
    """Return the items of a section of a material file."""
    return read_material(file)[section][""]


@lru_cache(maxsize=1)
def _listed_companies() -> tuple[tuple[str, tuple[str, ...], str, str], ...]:
    rows = []
    for line in pool("companies.txt", "company"):
        name, aliases, ticker, host = (part.strip() for part in line.split(" | "))
        rows.append((name, tuple(alias.strip() for alias in aliases.split(",")), ticker, host))
    return tuple(rows)


def listed_companies() -> int:
    """Return how many companies are named by hand; names of later ones are composed."""
    return len(_listed_companies())


def sector_index(company: int) -> int:
    """Return the sector of a company: any three companies in a row are of different sectors."""
    return (company // 3 + 4 * (company % 3)) % len(sectors())


@lru_cache(maxsize=100_000)
def organization(rank: int) -> str:
    """Return the organisation of a rank: first the ones named by hand, then composed ones."""
    listed = pool("organizations.txt", "organization")
    if rank < len(listed):
        return listed[rank]
    heads, tails, trades, prefixes = (
        pool("organizations.txt", s) for s in ("head", "tail", "trade", "prefix")
    )
    code = (rank - len(listed)) * 48271 + 17
    code, head = divmod(code, len(heads))
    code, trade = divmod(code, len(trades))
    code, tail = divmod(code, 2 * len(tails))
    stem = heads[head] + (tails[tail] if tail < len(tails) else "")
    more = prefixes[code % len(prefixes)] + " " if code % 3 == 0 else ""
    return f"{more}{stem} {trades[trade]}"


@lru_cache(maxsize=100_000)
def person(rank: int) -> Person:
    """Return the person of a rank; names repeat after some fifteen thousand."""
    female, male, last = (pool("names.txt", s) for s in ("female", "male", "last"))
    code = rank * 7919 + 101
    code, family = divmod(code, len(last))
    given = code % (len(female) + len(male))
    if given < len(female):
        return Person(female[given], last[family], "she")
    return Person(male[given - len(female)], last[family], "he")


def coined(dice: Dice) -> str:
    """Return an invented brand such as Veripulse."""
    head = dice.pick(pool("organizations.txt", "brandhead"))
    return head + dice.pick(pool("organizations.txt", "brandtail"))


def _composed_name(index: int, sector: Sector) -> tuple[str, tuple[str, ...], str, str]:
    """Name, aliases, ticker and host of a company without a name of its own in the material.

    Stems are gone through in an order that looks random (the step is coprime to their number); when
    all have been used, the next trade and then a prefix tell companies of equal stem apart.
    """
    heads, tails, prefixes, legal = (
        pool("organizations.txt", s) for s in ("head", "tail", "prefix", "legal")
    )
    stems = len(heads) * len(tails)
    lap, code = divmod(index, stems)
    tail, head = divmod((code * 48271 + 5) % stems, len(heads))
    stem = heads[head] + tails[tail]
    lap, trade = divmod(lap, len(sector.trades))
    if lap:
        stem = f"{prefixes[(lap - 1) % len(prefixes)]} {stem}"
    if lap > len(prefixes):
        stem = f"{stem} {(lap - 1) // len(prefixes) + 1}"
    short = f"{stem} {sector.trades[trade]}"
    letters, rest = "", index
    while rest or len(letters) < 3:
        rest, digit = divmod(rest, 26)
        letters = chr(65 + digit) + letters
    name = f"{short} {legal[index % len(legal)]}"
    return name, (short, stem), stem[0] + letters, short.lower().replace(" ", "")


def _products(index: int, sector: Sector, dice: Dice) -> tuple[str, ...]:
    if index < listed_companies():
        third = len(sector.brands) // 3
        brands = list(sector.brands[index % 3 * third : (index % 3 + 1) * third])
    else:
        brands = [coined(dice) for _ in range(4)]
    brands = dice.shuffled(brands)
    return (
        brands[0],
        brands[1],
        f"{brands[0]} {dice.pick(sector.nouns)}",
        brands[2],
        f"{brands[1]} {dice.integer(2, 9) * 100}",
        brands[3],
    )


@lru_cache(maxsize=4096)
def company(seed: int, index: int) -> Company:
    """Return a company of the invented world.

    Parameters
    ----------
    seed : int
        Seed of the world.
    index : int
        0-based number of the company; any size.

    Returns
    -------
    Company
    """
    dice = Dice("company", seed, index)
    sector = sectors()[sector_index(index)]
    if index < listed_companies():
        # Sectors of the first companies come in the order of the list: three a sector.
        row = sector_index(index) * 3 + index % 3
        name, aliases, ticker, host = _listed_companies()[row]
    else:
        name, aliases, ticker, host = _composed_name(index, sector)
    segments = dice.shuffled(sector.segments)

    def distinct(draw: Callable[[], str], count: int) -> tuple[str, ...]:
        found: dict[str, None] = {}
        while len(found) < count:
            found[draw()] = None
        return tuple(found)

    def organizations(count: int) -> tuple[str, ...]:
        return distinct(lambda: organization(dice.rank(ORGANIZATION_EXPONENT)), count)

    def listed(items: tuple[str, ...], count: int) -> tuple[str, ...]:
        return distinct(lambda: items[dice.rank(1.5) % len(items)], count)

    def places(section: str, count: int) -> tuple[str, ...]:
        return listed(pool("places.txt", section), count)

    officers: dict[str, tuple[Person, str]] = {}
    taken: set[str] = set()
    titles = {
        "ceo": ("Chief Executive Officer", "President and Chief Executive Officer"),
        "cfo": ("Chief Financial Officer", "Executive Vice President and Chief Financial Officer"),
        "ir": ("Vice President of Investor Relations", "Head of Investor Relations"),
        "coo": ("Chief Operating Officer", "President of Operations"),
    }
    for office, options in titles.items():
        # A first name is addressed during the call, so no two officers share one.
        someone = person(dice.integer(0, 14_999))
        while someone.first in taken or someone.last in taken:
            someone = person(dice.integer(0, 14_999))
        taken |= {someone.first, someone.last}
        officers[office] = (someone, dice.pick(options))
    step = len(sectors())
    # Companies of the same sector, whose index differs by the sectors' cycle: see sector_index.
    same_sector = [
        other
        for other in range(max(0, index - 3 * step), index + 3 * step + 1)
        if other != index and sector_index(other) == sector_index(index)
    ]
    return Company(
        index=index,
        name=name,
        aliases=aliases,
        ticker=ticker,
        website=f"{host}.example",
        sector=sector,
        scale=10 ** dice.uniform(2.0, 3.7),
        segments=tuple(segments[:3]),
        old_segment=segments[3],
        products=_products(index, sector, dice),
        customers=organizations(3),
        partners=organizations(3),
        suppliers=organizations(3),
        rivals=tuple(dice.shuffled(same_sector)[:2]),
        techs=listed(pool("organizations.txt", "tech"), 3),
        cities=places("city", 6),
        states=places("state", 3),
        countries=places("country", 5),
        regions=places("region", 4),
        university=dice.pick(pool("organizations.txt", "university")),
        officers=officers,
    )
