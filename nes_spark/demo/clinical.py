"""Dictated hospital notes of invented patients; the secret is the hospital."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nes_spark.demo.forms import Form, entity
from nes_spark.demo.grammar import Dice, Filled, check_positive, read_material
from nes_spark.demo.world import Person, person

DEFAULT_NOTES = 16
FILE = "clinical.txt"
_MONTHS = ("January", "February", "March", "April", "May", "June")
_RELATIVES = ("daughter", "son", "husband", "wife", "sister", "neighbor")


def _hospitals() -> list[tuple[str, list[str], str]]:
    rows = (line.split(" | ") for line in read_material(FILE)["hospital"][""])
    return [(name, [a.strip() for a in aliases.split(",")], city) for name, aliases, city in rows]


def note(number: int, seed: int = 2031) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return one note and its gold annotation.

    Parameters
    ----------
    number : int
        0-based number of the note; hospitals take turns.
    seed : int, optional
        Seed.

    Returns
    -------
    document : dict
        Keys document_id, hospital, hospital_aliases, department, period, patient, physicians, mrn,
        phone and text.
    gold : dict
        document_id and spans: lists of start, end, kind and surface. Kinds are categories, or
        ``hospital``, ``physician``, ``patient``, ``mrn``, ``phone`` for direct identifiers.
    """
    dice = Dice("clinical", seed, number)
    hospitals = _hospitals()
    name, aliases, city = hospitals[number % len(hospitals)]
    material = read_material(FILE)
    # Every hospital dictates in every department over time.
    departments = material["department"][""]
    department = departments[(number + number // len(hospitals)) % len(departments)]
    staff = Dice("staff", seed, name)
    physicians = [person(staff.integer(0, 14_999)) for _ in range(3)]
    doctors = [person(staff.integer(0, 14_999)) for _ in range(4)]
    physician = dice.pick(physicians)
    patient = person(dice.integer(0, 14_999))
    relative = Person(person(dice.integer(0, 14_999)).first, patient.last, "")
    mrn = f"{dice.integer(1_000_000, 9_999_999)}"
    phone = f"(555) 01{dice.integer(0, 9)}-{dice.integer(1000, 9999)}"
    own = {s: dice.shuffled(material[s][""])[:3] for s in ("facility", "drug", "device", "region")}

    def listed(section: str, kind: str) -> Filled:
        everything = material[section][""]
        chosen = dice.pick(own.get(section, everything) if dice.chance(0.6) else everything)
        return entity(chosen, kind)

    def words(part: str) -> Filled:
        return Filled(dice.pick(material[department][part]))

    form = Form(
        FILE,
        dice,
        {
            "physician": Filled(physician.name, "physician"),
            "patient": Filled(patient.name, "patient"),
            "patient_formal": Filled(patient.formal, "patient"),
            "mrn": Filled(mrn, "mrn"),
            "phone": Filled(phone, "phone"),
            "hospital": Filled(aliases[0], "hospital"),
            "hospital_full": Filled(name, "hospital"),
            "city": Filled(city, "Location"),
            "department": Filled(department, "Organization"),
            "age": Filled(str(dice.integer(31, 88))),
            "sex": Filled("woman" if patient.pronoun == "she" else "man"),
            "pron": Filled(patient.pronoun),
        },
        {
            "relative": lambda: (
                Filled(relative.name, "Person")
                if dice.chance(0.6)
                else Filled(f"the {dice.pick(_RELATIVES)}")
            ),
            "doctor": lambda: Filled(
                (dice.pick(doctors) if dice.chance(0.7) else person(dice.integer(0, 14_999))).name,
                "Person",
            ),
            "facility": lambda: listed("facility", "Organization"),
            "payer": lambda: listed("payer", "Organization"),
            "other_hospital": lambda: Filled(
                dice.pick([h for h, _, _ in hospitals if h != name]), "Organization"
            ),
            "other_department": lambda: Filled(
                dice.pick([d for d in departments if d != department]), "Organization"
            ),
            "drug": lambda: listed("drug", "Product"),
            "device": lambda: listed("device", "Product"),
            "region": lambda: listed("region", "Location"),
            "complaint": lambda: words("complaint"),
            "finding": lambda: words("finding"),
            "procedure": lambda: words("procedure"),
            "condition": lambda: words("condition"),
            "date": lambda: Filled(f"{dice.pick(_MONTHS)} {dice.integer(1, 28)}, 2031", "Date"),
            "month": lambda: Filled(dice.pick(_MONTHS), "Date"),
            "year": lambda: Filled(str(dice.integer(2019, 2030)), "Date"),
            "n": lambda: Filled(dice.pick(("two", "three", "four", "five", "six"))),
            "n2": lambda: Filled(str(dice.integer(3, 20) * 10)),
        },
    )
    form.write(dice.pick(material["opening"][""]))
    for section in ("history", "past", "course", "plan"):
        form.section(section, 3, 5)
    document_id = f"note-{number + 1:05d}"
    return (
        {
            "document_id": document_id,
            "hospital": name,
            "hospital_aliases": aliases,
            "department": department,
            "period": "2031H1",
            "patient": patient.name,
            "physicians": [p.name for p in physicians],
            "mrn": mrn,
            "phone": phone,
            "text": form.page.text,
        },
        {"document_id": document_id, "spans": form.spans()},
    )


def notes(
    documents: int = DEFAULT_NOTES, seed: int = 2031
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Make notes one at a time; see :func:`note`.

    Raises
    ------
    ValueError
        When ``documents`` is not a positive integer.
    """
    check_positive("notes", "documents", documents)
    return (note(number, seed) for number in range(documents))
