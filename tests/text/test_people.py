import pytest

from nes_spark.config import IdentifiersConfig
from nes_spark.text import Turn, known_identifiers, suppress
from nes_spark.text.aliases import mine_aliases
from nes_spark.text.people import mine_people


def mined(*texts, companies=("Acme Corp",), known=()):
    return mine_people([Turn(t) for t in texts], companies, known)


@pytest.mark.parametrize(
    "text, names",
    [
        ("We have Vince Angow, our Chief Executive Officer, here.", ["Vince Angow"]),
        ("And Carlos Yustow, our CFO, will follow.", ["Carlos Yustow"]),
        ("Then our CFO, Carlos Yustow, spoke.", ["Carlos Yustow"]),
        ("Our Chief Medical Officer Ann van der Roe said so.", ["Ann van der Roe"]),
        ("as said by Mr. Shuang Liuo before", ["Shuang Liuo"]),
        ("I'll turn it over to Tomas.", ["Tomas"]),
        ("I will now hand the call over to our Treasurer, Bo Leen. Bo?", ["Bo Leen"]),
        ("As Kasia mentioned, we grew.", ["Kasia"]),
        ("Thank you, Kasia. Good morning.", ["Kasia"]),
        ("Kasia and I will take questions.", ["Kasia"]),
        ("With me today are Ann Roew and Bo Leen. We will begin.", ["Ann Roew", "Bo Leen"]),
        ("Ann Roew, CEO of Acme, is here.", ["Ann Roew"]),
        ("My name is Ann Roew and I lead sales.", ["Ann Roew"]),
        ("Please go ahead, Kasia.", ["Kasia"]),
        # Somebody else's officers, things, days, and the company itself are none of its people.
        ("We met Ann Roew, CEO of Globex, there.", []),
        ("Thank you, Operator. Good morning, everyone.", []),
        ("We move it over to Monday. Thanks, Acme.", []),
        ("I turn to Slide 4, to Revenue, to China.", []),
        ("Sales in Berlin grew. Boeing bought two, and Globex Industries too.", []),
    ],
)
def test_who_is_presented(text, names):
    assert mined(text) == names


def test_later_short_forms_are_suppressed_too():
    config = IdentifiersConfig.model_validate({})
    text = (
        "Here are Ann Roew, our CEO, and Bo Leen, our CFO. Ms. Roew opens, then Bo. Roew's plan, "
        "as Bo said, and Annie's too."
    )
    names, _ = known_identifiers(text, {"company": ["Acme Corp"]}, config, turns=[Turn(text)])
    released = suppress(text, names)[0]
    assert released == (
        "Here are [Executive 1], our CEO, and [Executive 2], our CFO. Ms. [Executive 1] opens, "
        "then [Executive 2]. [Executive 1]'s plan, as [Executive 2] said, and Annie's too."
    )
    off = IdentifiersConfig.model_validate({"mined_people": False})
    assert known_identifiers(text, {}, off, turns=[Turn(text)])[0] == []


def test_who_is_known_is_not_found_again():
    text = "Thank you, Bo. Ann Roew, our CEO, and Mr. Leen."
    assert mined(text, known=["Bo Leen"]) == ["Ann Roew"]
    assert mined(text, known=["Bo Leen", "Ms. Ann Roew"]) == []


def test_who_asks_is_not_presented():
    turns = [
        Turn("I'll turn it over to Ann Roew. Thank you."),
        Turn("Thank you. We grew in every quarter of this year."),
        Turn("Our first question comes from Mr. Cyrus Poe of Globex. Please go ahead."),
        Turn("What about margins?"),
    ]
    config = IdentifiersConfig.model_validate({})
    names, _ = known_identifiers("We grew", {}, config, turns=turns, kept=[1])
    assert [i.value for i in names if i.kind == "person"] == ["Ann Roew"]


@pytest.mark.parametrize("unit", ["Ann ", "Ann Roe, ", "our CFO, ", "to ", "Mr. ", "A. ", "and I "])
def test_repetitive_texts_end_soon(unit):
    mined(unit * (200_000 // len(unit)))


@pytest.mark.parametrize(
    "text, company, aliases",
    [
        ("See our website at ir.quuxly.com today.", "Phoen Media", ["quuxly"]),
        ("Write to investors@quuxly.de today.", "Phoen Media", ["quuxly"]),
        ("See globex.com and sec.gov, our website.", "Phoen Media", []),
        ("Quuxlly is Quuxlly.", "Quuxly Media", ["Quuxlly Media"]),
        ("We trade as NYSE: PHMD today.", "Phoen Media", ["PHMD"]),
    ],
)
def test_aliases_from_addresses_spellings_and_tickers(text, company, aliases):
    assert mine_aliases([Turn(text)], [company]) == aliases


@pytest.mark.parametrize(
    "text, names",
    [
        ("Philippe will then take us through the numbers.", ["Philippe"]),
        (
            "I'm here with Bernardo Mingow of CFO. I hand over to Bernardo, who will.",
            ["Bernardo Mingow"],
        ),
        ("Over to Sergey Anokhow. Thank you.", ["Sergey Anokhow"]),
        ("Let me bring in Vijay, our CFO, for this.", ["Vijay"]),
        ("Our CFO, Cristiano, uh, Borew.", ["Cristiano Borew"]),
        ("Thank you. Francis deSouzow, our CEO, is here.", ["Francis deSouzow"]),
        ("I turn the call over to J.J. who leads.", ["J.J"]),
        ("Growth is led by our Trailhead Chairs.", []),
        (
            "As Genentech mentioned, at Genentech, with Genentech, by Genentech, for Genentech, "
            "of Genentech.",
            [],
        ),
        ("It is on XL, as XL said.", []),
        ("The Missouri Public Service Commission will review it.", []),
    ],
)
def test_frames_of_real_calls(text, names):
    assert mined(text) == names
