"""Patent filings of invented companies; the secret is the assignee."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nes_spark.demo.forms import Form, entity
from nes_spark.demo.grammar import Dice, Filled, check_positive, read_material
from nes_spark.demo.world import person

DEFAULT_FILINGS = 16
FILE = "patents.txt"
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "September", "October")


def _assignees() -> list[tuple[str, list[str], str]]:
    rows = (line.split(" | ") for line in read_material(FILE)["assignee"][""])
    return [(name, [a.strip() for a in aliases.split(",")], city) for name, aliases, city in rows]


def filing(number: int, seed: int = 2031) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return one filing and its gold annotation.

    Parameters
    ----------
    number : int
        0-based number of the filing; assignees take turns.
    seed : int, optional
        Seed.

    Returns
    -------
    document : dict
        Keys document_id, assignee, assignee_aliases, field, filing_year, inventors,
        application_numbers and text.
    gold : dict
        document_id and spans: lists of start, end, kind and surface. Kinds are categories, or
        ``assignee``, ``inventor``, ``application_number`` for direct identifiers.
    """
    dice = Dice("patents", seed, number)
    assignees = _assignees()
    name, aliases, city = assignees[number % len(assignees)]
    material = read_material(FILE)
    fields = material["field"][""]
    field = fields[(number + number // len(assignees)) % len(fields)]
    inventors = [person(dice.integer(0, 14_999)) for _ in range(2)]
    while inventors[0].last == inventors[1].last:
        inventors[1] = person(dice.integer(0, 14_999))
    numbers = [
        f"{dice.integer(17, 19)}/{dice.integer(100, 999)},{dice.integer(100, 999)}",
        f"63/{dice.integer(100, 999)},{dice.integer(100, 999)}",
    ]
    authors = [person(dice.integer(0, 14_999)) for _ in range(2)]
    own = {s: dice.shuffled(material[s][""])[:4] for s in ("organization", "product", "place")}
    thing = dice.pick(material[field]["thing"])

    def listed(section: str, kind: str) -> Filled:
        pool = own[section] if dice.chance(0.65) else material[section][""]
        return entity(dice.pick(pool), kind)

    def words(part: str) -> Filled:
        return Filled(dice.pick(material[field][part]))

    form = Form(
        FILE,
        dice,
        {
            "number": Filled(numbers[0], "application_number"),
            "number_2": Filled(numbers[1], "application_number"),
            "assignee": Filled(aliases[0], "assignee"),
            "assignee_full": Filled(name, "assignee"),
            "city": Filled(city, "Location"),
            "inventor_1": Filled(inventors[0].name, "inventor"),
            "inventor_2": Filled(inventors[1].name, "inventor"),
            "inventor_last_1": Filled(inventors[0].last, "inventor"),
            "inventor_last_2": Filled(inventors[1].last, "inventor"),
            "purpose": Filled(dice.pick(material[field]["purpose"])),
            "thing": Filled(thing),
            "thing_title": Filled(thing[0].upper() + thing[1:]),
        },
        {
            "organization": lambda: listed("organization", "Organization"),
            "funder": lambda: Filled(
                dice.pick(("National Science Foundation", "European Space Agency")), "Organization"
            ),
            "product": lambda: listed("product", "Product"),
            "place": lambda: listed("place", "Location"),
            "author": lambda: Filled(
                (dice.pick(authors) if dice.chance(0.7) else person(dice.integer(0, 14_999))).name,
                "Person",
            ),
            "part": lambda: words("part"),
            "problem": lambda: words("problem"),
            "date": lambda: Filled(f"{dice.pick(_MONTHS)} {dice.integer(1, 28)}, 2031", "Date"),
            "month_year": lambda: Filled(f"{dice.pick(_MONTHS)} 2030", "Date"),
            "year": lambda: Filled(str(dice.integer(2015, 2030)), "Date"),
            "angle": lambda: Filled(str(dice.integer(5, 90))),
            "percent": lambda: Filled(str(dice.integer(10, 70))),
            "count": lambda: Filled(f"{dice.integer(2, 60) * 100:,}"),
            "digit": lambda: Filled(str(dice.integer(1, 6))),
        },
    )
    form.write(dice.pick(material["opening"][""]))
    form.section("related", 1, 2)
    form.section("background", 3, 5)
    form.section("summary", 3, 5)
    form.section("detailed", 4, 6)
    form.section("claims", 2, 3)
    document_id = f"filing-{number + 1:05d}"
    return (
        {
            "document_id": document_id,
            "assignee": name,
            "assignee_aliases": aliases,
            "field": field,
            "filing_year": "2031",
            "inventors": [i.name for i in inventors],
            "application_numbers": numbers,
            "text": form.page.text,
        },
        {"document_id": document_id, "spans": form.spans()},
    )


def filings(
    documents: int = DEFAULT_FILINGS, seed: int = 2031
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Make filings one at a time; see :func:`filing`.

    Raises
    ------
    ValueError
        When ``documents`` is not a positive integer.
    """
    check_positive("filings", "documents", documents)
    return (filing(number, seed) for number in range(documents))
