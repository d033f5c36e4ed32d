import json
import re
from pathlib import Path

import pytest

import nes_spark
from nes_spark.text import find_presentation, split_turns
from nes_spark.text.presentation import Turn
from nes_spark.text.speaker_lines import speaker_lines

RULE = "." * 120
REMARKS = "We are pleased with the quarter. Revenue grew in every region. " * 12
#: What operators say too, said by whoever opens the call.
RELATIONS = (
    "Good morning, everyone, and welcome to the Acme third quarter earnings conference call "
    "(NYSE: ACM). A replay is at 1-877-555-0100, passcode 123456, and this call is being recorded. "
    "Please go to slide 2. I turn the call over to Cy."
)
FIRST = (
    "Thank you. [Operator Instructions] Our first question comes from Bo Lee with Big Bank. Please "
    "go ahead."
)
QUESTION = "Thanks for taking my question. Could you talk about margins, please?"
PAGE = (
    "1-877-555-0142    Copyright © 2001-2026 Scribes, LLC    {}\n\fAcme Inc. (ACM)\n29-Oct-2026\n"
)

VENDOR = f"""Acme Inc. (ACM)
Q3 2026 Earnings Call

Total Pages: 9

Copyright © 2001-2026 Scribes, LLC    1
\fAcme Inc. (ACM)
29-Oct-2026

CORPORATE PARTICIPANTS

Ann K. Page
Vice President, Investor Relations, Acme Inc.

Cy van der Poe, Ph.D.
President & Chief Executive Officer, Acme Inc.

{RULE}

OTHER PARTICIPANTS

Bo Lee
Analyst, Big Bank LLC

{PAGE.format(2)}
MANAGEMENT DISCUSSION SECTION

Operator: Good morning, and welcome to the Acme call. I turn the call over to Ann Page.
{RULE}

Ann K. Page
Vice President, Investor Relations, Acme Inc.

{RELATIONS}

{RULE}

Cy van der Poe, Ph.D.
President & Chief Executive Officer, Acme Inc.

{REMARKS}

{PAGE.format(3)}
Ours is a good year. Operator, please open the line for questions.

{RULE}

QUESTION AND ANSWER SECTION

Operator: {FIRST}
{RULE}

Bo Lee    Q
Analyst, Big Bank LLC

{QUESTION}

{RULE}

Cy van der Poe, Ph.D.    A
President & Chief Executive Officer, Acme Inc.

They will be fine.

{RULE}

Disclaimer

The information herein is not guaranteed.
"""

PORTAL = f"""Acme (ACM) Q3 2026 Earnings Call Transcript

Oct. 29, 2026 8:30 AM ET | Acme Inc. (ACM) Stock

**Company Participants**

Ann K. Page - VP of IR
Cy van der Poe, Ph.D. - President and CEO

**Conference Call Participants**

Bo Lee - Big Bank

**Operator**

Good morning, and welcome to the Acme call. I turn the call over to Ann Page.

**Ann K. Page**

{RELATIONS}

**Cy van der Poe, Ph.D.**

{REMARKS}

Ours is a good year. Operator, please open the line for questions.

**Operator**

{FIRST}

**Bo Lee**

{QUESTION}

**Cy van der Poe, Ph.D.**

They will be fine.

Read more current ACM analysis and news
"""

OWN_SITE = f"""Acme Inc.
Third Quarter 2026 Results
Dial-in: 1-877-555-0100, conference ID 10210698
Replay: 1-877-555-0199, access code 307547#
Webcast: investors.acme.example

Operator

Good morning, and welcome to the Acme call. I turn the call over to Ann Page.

Ann K. Page -- Vice President, Investor Relations

[Slide 2]

{RELATIONS}

Cy van der Poe, Ph.D. -- President and Chief Executive Officer

{REMARKS}

Slide 3

Ours is a good year. Operator, please open the line for questions.

Operator

{FIRST}

Bo Lee -- Analyst, Big Bank

{QUESTION}

Cy van der Poe, Ph.D. -- President and Chief Executive Officer

They will be fine.

Contacts: Ann K. Page, 1-877-555-0177
"""


THICK, THIN = "=" * 80, "-" * 80


def _turn(who: str, number: int, said: str) -> str:
    return f"{THIN}\n{who}   [{number}]\n{THIN}\n {said}\n\n"


#: Turns are counted, and rules stand on both sides of who speaks. The misspelt heading is theirs.
COUNTED = f"""Scribes StreetEvents Event Transcript
E D I T E D   V E R S I O N

Q3 2026 Acme Inc Earnings Call
OCTOBER 29, 2026 / 12:30PM GMT

{THICK}
Corporate Participants
{THICK}

 * Ann K. Page
   Acme Inc. - VP, Investor Relations
 * Cy van der Poe
   Acme Inc. - President & CEO

{THICK}
Conference Call Participiants
{THICK}

 * Bo Lee
   Big Bank - Analyst

{THICK}
Presentation
""" + "".join(
    _turn(who, number, said)
    for number, (who, said) in enumerate(
        [
            ("Operator", "Good morning. I turn the call over to Ann Page."),
            ("Ann K. Page,  Acme Inc. - VP, Investor Relations", RELATIONS),
            (
                "Cy van der Poe,  Acme Inc. - President & CEO",
                f"{REMARKS}\n\nOurs is a good year. Operator, please open the line for questions."
                f"\n\n{THICK}\nQuestions and Answers",
            ),
            ("Operator", FIRST),
            ("Bo Lee,  Big Bank - Analyst", QUESTION),
            ("Cy van der Poe,  Acme Inc. - President & CEO", "They will be fine."),
            ("Definitions", 'PRELIMINARY TRANSCRIPT: "Preliminary Transcript" means early.'),
        ],
        start=1,
    )
)

#: Without the list of who takes part: names alone.
NAMES = PORTAL[PORTAL.index("**Operator") :].replace("**", "")
TIGHT = PORTAL.replace("**", "").replace("\n\n", "\n")
COLONS = PORTAL.replace("e**\n", "e:**\n").replace(".**\n", ".:**\n").replace("r**\n", "r:**\n")
INLINE = re.sub(r"\*\*(.+)\*\*\n\n", r"\1: ", PORTAL.replace("ts**", "ts").replace("**Co", "Co"))
MARKED = re.sub(r"\n(\w.{2,30}) -- (.+)\n", r"\n**\1** -- *\2*\n", OWN_SITE)


@pytest.mark.parametrize(
    "call",
    [VENDOR, PORTAL, PORTAL.replace("**", ""), OWN_SITE, NAMES, TIGHT, COLONS, INLINE, MARKED]
    + [COUNTED, COUNTED.replace("Participiants", "Participants").replace(",  ", ", ")]
    # titles that say nothing, as often as page headers stand
    + [re.sub(r" - (?:VP|President|Analyst).*?(?=$|   \[)", " - Doer", COUNTED, flags=re.M)]
    + [OWN_SITE.replace(" -- ", dash) for dash in (" - ", " – ", ", ")]
    + [VENDOR.replace("    Q\n", "\n").replace("Bank LLC\n", "Bank LLC\tQ\n")],
)
def test_only_what_is_said_before_the_questions_is_kept(call):
    found = find_presentation(split_turns(call))
    kept = "\n\n".join(t.text for t in found.turns)
    closing = "Ours is a good year. Operator, please open the line for questions."
    assert kept.split() == f"{RELATIONS} {REMARKS} {closing}".split()
    assert {t.speaker for t in found.turns} == {"Ann K. Page", "Cy van der Poe"}


@pytest.mark.parametrize("call", [VENDOR, PORTAL, OWN_SITE, COUNTED])
def test_all_who_speak_are_known_and_nobody_else(call):
    speakers = {t.speaker for t in split_turns(call.replace("\n", "\r\n")) if t.said}
    assert speakers - {""} == {"Operator", "Ann K. Page", "Cy van der Poe", "Bo Lee"}


@pytest.mark.parametrize("call", [VENDOR, PORTAL, OWN_SITE, COUNTED])
def test_turns_are_parts_of_the_text(call):
    at = 0
    for turn in split_turns(call):
        at = call.index(turn.text, at) + len(turn.text)


def test_whoever_is_counted_speaks():
    call = COUNTED.replace("Bo Lee", "Speaker 3").replace("Ann K. Page, ", "Ann, ")
    speakers = {t.speaker for t in split_turns(call) if t.said}
    assert speakers - {""} == {"Operator", "Ann", "Cy van der Poe", "Speaker 3"}
    # also where the line stands as often as the header of a page
    more = "".join(_turn("Di Dunn,  Acme Inc. - Doer", n, "Yes.") for n in range(8, 12))
    assert [t.text for t in split_turns(call + more) if t.speaker == "Di Dunn"] == ["Yes."] * 4


def test_numbers_of_notes_count_no_turns():
    said = "It was high, as they say.\n\n"
    places = ("Leeds", "York", "Hull", "Ely")
    text = "".join(f"{said}Heat was measured in {w} [{n}]\n\n" for n, w in enumerate(places, 1))
    assert speaker_lines(text) == []
    assert " ".join(turn.text for turn in split_turns(text)).split() == text.split()


def test_bold_names_with_a_colon_are_no_page_headers_however_often_they_stand():
    call = COLONS.replace(
        "Ours is a good year.",
        "\n\n".join(f"**{who}:**\n\nYes." for who in ("Ann K. Page", "Cy van der Poe") * 3)
        + "\n\nOurs is a good year.",
    )
    found = find_presentation(split_turns(call))
    assert [t.speaker for t in found.turns][-6:] == ["Ann K. Page", "Cy van der Poe"] * 3
    assert REMARKS.strip() in "\n".join(t.text for t in found.turns)


def test_a_label_that_stands_like_a_page_header_is_a_label():
    call = COUNTED.replace("Ann K. Page, ", "Annabel, ") + "\n\nAnnabel:\n\nNo.\n" * 3
    assert [t.text for t in split_turns(call) if t.speaker == "Annabel"][-3:] == ["No."] * 3


def test_speakers_without_titles_are_those_who_speak_again():
    text = (
        "Operator\n\nHello.\n\nAnn Roe\n\nGood day.\n\nNet Sales\n\nThey grew.\n\nAnn Roe\n\nYes."
    )
    assert [m.speaker for m in speaker_lines(text)] == ["Operator", "Ann Roe", "Ann Roe"]


@pytest.mark.parametrize(
    "text",
    [
        "Ann Roe: Good day.\n\nCy Poe: Thanks.\n\nAnn Roe: So long.",
        "Net Sales\n\nThey grew.\n\nCash Flow\n\nIt fell.\n\nNet Sales\n\nThey will grow.",
        "Dear Ann,\n\nour president is here.\n\nBest regards,\n\nCy Poe\nDirector, Acme Inc.",
    ],
)
def test_other_texts_have_no_such_lines(text):
    assert speaker_lines(text) == []


def test_a_greeting_with_an_exchange_is_no_label():
    text = (
        "Operator: Welcome.\n\nAnn Roe: Good day.\nHello, everyone, and thanks for your interest "
        "in Acme (NYSE: ACM). We grew.\n\nReplay: 1-877-555-0199\n\nCy Poe: Thanks."
    )
    turns = split_turns(text)
    assert [t.speaker for t in turns] == ["Operator", "Ann Roe", "Cy Poe"]
    assert "Hello, everyone, and thanks for your interest in Acme (NYSE: ACM)" in turns[1].text


TITLES = ("Chief Executive Officer", "VP, Investor Relations", "Analyst, Big Bank LLC")
LAYOUTS = {
    "vendor": (
        "CORPORATE PARTICIPANTS\n\n",
        "{who}\n{title}\n\n",
        f"{RULE}\n\nMANAGEMENT DISCUSSION SECTION\n\n",
        "{who}\n{title}\n\n{said}\n\n" + RULE + "\n\n",
    ),
    "portal": ("Company Participants\n\n", "{who} - {title}\n", "\n", "**{who}**\n\n{said}\n\n"),
    "own site": ("", "", "Prepared Remarks:\n\n", "{who} -- {title}\n\n{said}\n\n"),
    "counted": (
        f"{THICK}\nCorporate Participants\n{THICK}\n\n",
        " * {who}\n   {title}\n",
        f"\n{THICK}\nPresentation\n",
        THIN + "\n{who},  Acme Inc. - {title}   [{n}]\n" + THIN + "\n {said}\n\n",
    ),
}


def written(turns, layout):
    """A call as this layout has it."""
    head, of_list, behind, of_turn = LAYOUTS[layout]
    people = dict.fromkeys(t.speaker for t in turns if t.speaker != "Operator")
    titles = {who: TITLES[n % len(TITLES)] for n, who in enumerate(people)}
    text = f"Acme Inc. (ACM)\nQ3 2026 Earnings Call\n\n{head}"
    text += "".join(of_list.format(who=who, title=title) for who, title in titles.items()) + behind
    for n, turn in enumerate(turns, start=1):
        who = turn.speaker
        label = (
            of_turn if who in titles else re.sub(r"(?:,  Acme Inc\.)?.{1,4}\{title\}", "", of_turn)
        )
        text += label.format(who=who, title=titles.get(who), n=n, said=turn.text)
    return text


@pytest.mark.parametrize("layout", LAYOUTS)
def test_calls_of_the_demo_have_the_same_presentation_in_every_layout(layout):
    calls = Path(nes_spark.__file__).parent / "demo" / "calls.jsonl"
    for line in calls.read_text().splitlines():
        turns = [Turn(t["text"], t["speaker"]) for t in json.loads(line)["turns"]]
        found = find_presentation(split_turns(written(turns, layout)))
        expected = find_presentation(turns)
        said = [word for turn in found.turns for word in turn.text.split()]
        assert said == [word for turn in expected.turns for word in turn.text.split()]
        assert {t.speaker for t in found.turns} == {t.speaker for t in expected.turns}
