import re

import pytest

from nes_spark.config import IdentifiersConfig
from nes_spark.text import Turn, known_identifiers, suppress
from nes_spark.text.aliases import mine_aliases
from nes_spark.text.matching import Identifier
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
        ("Let me come back to the transaction with Nordek on page four.", []),
        ("I now go back to the deal, and over to Kasia.", ["Kasia"]),
        # days, firms, brands and towns that stand where people do
        ("We host a call on Sept. 12, 2024, and on Feb. 3.", []),
        ("Led by Condorham Roew, LLC, and Condorham & Partners.", []),
        ("Ann Roew joined us from Quillmont Ridge as General Counsel.", ["Ann Roew"]),
        ("Headed by Quillmont Ridge, Indiana. Thank you, Aurelia®.", []),
        ("Neither Ann Roew, our CEO, nor Bo Leen, our CFO, came.", ["Ann Roew", "Bo Leen"]),
        # a line that ended is no beginning of a name
        ("Consultant: Dr Ann Roew\nWard: Oak\n\nMs Leen\nDate: May", ["Ann Roew", "Leen"]),
        ("We met a good many of them today, and among these our CFO, Ann\nRoew.", ["Ann Roew"]),
        # a name and what companies are called by is a company, unless a given name leads it
        ("We won back Aurelia, which had moved to Grand Condorham Brands in 2028.", []),
        ("I will turn it over to Robert Condorham Energy.", ["Robert Condorham"]),
        ("I will turn it over to Thandiwe Nkosi Finance.", ["Thandiwe Nkosi"]),
        ("We moved it over to Golden Condorford Capital.", []),
        ("We won back Aurelia, which had moved to Valeley in 2023.", []),
        ("I turn it back to our CFO, Ann Roew.", ["Ann Roew"]),
        # what was founded is nobody, who founded it is
        ("We met the founder of Silver Mesa Controls, in Berlin.", []),
        ("Let me thank our founder Bo Leen, too.", ["Bo Leen"]),
        ("Sales in Berlin grew. Boeing bought two, and Globex Industries too.", []),
        # a rank is no first name: whoever bears it has another
        ("Driver Quarrow told them, and so Fergus Quarrow left.", ["Fergus Quarrow"]),
        ("Chief Engineer Quarrow reported it, and Ann Roew.", ["Quarrow"]),
        ("Driver Field told all of it.", ["Mr. Field"]),
        ("The Driver Accident Report was handed in. Driver: 'I told him.'", []),
        # places that somebody goes on to, or comes from
        ("With no handling contract there, its passengers went on to Ambleford by coach.", []),
        ("The light had been on since Ambleford and I told them.", []),
        ("The crossing keeper at Ambleford told the police.", []),
        # parties by what they are here
        ("The Claimant said so, and the Claimant left.", []),
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


@pytest.mark.parametrize(
    "text, names",
    [
        ("Dr May Roew spoke. Mr Will Leen left in May.", ["May Roew", "Will Leen"]),
        ("We heard Dr May Hope.", ["May Hope"]),
        ("We heard Mrs Grace Page, and Miss Oluwo Page too.", ["Grace Page", "Oluwo Page"]),
        ("Mr Dominic St. Roew appeared.", ["Dominic St Roew"]),
        ("Mr Justice Roew left it to the courts of Justice.", ["Roew"]),
        ("Ms A. Roew KC and Mr R. Leen-Marlow QC appeared.", ["Roew", "Leen-Marlow"]),
    ],
)
def test_whom_a_title_names(text, names):
    assert mined(text) == names


def test_what_a_title_names_leaves_nothing_of_it():
    text = "Mr Dominic St. Roew, Ms A. Leen KC and Dr May Hope met. I prefer Hope."
    names, _ = known_identifiers(text, {}, IdentifiersConfig.model_validate({}), turns=[Turn(text)])
    assert suppress(text, names)[0] == (
        "Mr [Executive 1], Ms [Executive 2] KC and Dr [Executive 3] met. I prefer [Executive 3]."
    )


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
    mined(unit * (60_000 // len(unit)))


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


@pytest.mark.parametrize(
    "text, names",
    [
        ("With the board are Ann Roew, Vice President for Development, and us.", ["Ann Roew"]),
        ("We do not have here Bo Leen, but we answer for him.", ["Bo Leen"]),
        ("Bo Leen could not join us today.", ["Bo Leen"]),
        ("Kasia, with me today, will go through the figures.", ["Kasia"]),
        ("Okay. Kasia, thank you. We begin.", ["Kasia"]),
        ("as Kasia reminded us", ["Kasia"]),
        ("Thank you Kasia and good morning.", ["Kasia"]),
        ("Then spoke myself and Matto Walkow there.", ["Matto Walkow"]),
        ("Our CEO, Migel Stilwow d'Andradow, is here.", ["Migel Stilwow d'Andradow"]),
        ("from the Review Committee Outside Director Pavlo Broughow.", ["Pavlo Broughow"]),
        # A last name that was not understood is one all the same.
        ("Joining us is Kasia <inaudible>, chair of the board.", ["Kasia"]),
        # A title tells that an ordinary word is a name, initials before a name are none.
        ("We are joined by Mr. Chunyow Park from sales.", ["Chunyow Park"]),
        ("and Ms. FM Venusow as director", ["Venusow"]),
        ("Thank you, Mark. Good morning.", ["Mark"]),
        # what joins sentences is no first name of who stands behind it
        ("Unless Miss Quillow can be reached we close. Unless asked, we wait.", ["Quillow"]),
        ("Whereas Mr Quillow rang, Nor Dr Braddow wrote.", ["Quillow", "Braddow"]),
        ("Yeah, thank you. Alright, thanks.", []),
        ("That is below what Deloitte said. Thank you, Americans.", []),
        ("Most visitors are Americans and I like that.", []),
    ],
)
def test_more_frames_of_presented_people(text, names):
    assert mined(text) == names


def test_a_name_heard_in_another_way_is_the_same_person():
    text = "I hand over to Helinda. Thank you Helinda. Then Halinda left, and Helanda's team grew."
    assert mined(text) == ["Helinda", "Halinda", "Helanda"]
    assert mined("Over to Anna. Thank you, Anna. We heard Ana speak.") == ["Anna", "Ana"]
    # A word of another name, or one that the text also writes small, is none.
    assert mined("Over to Pavel. Thank you, Pavel. The Expert Panel met.") == ["Pavel"]
    assert mined("Over to Marino. Thank you, Marino. Marine life; all marine life.") == ["Marino"]


def test_ordinary_words_are_names_behind_a_title_only():
    names, _ = known_identifiers(
        (text := "As Mr. Park said, the new Park opened; Mr. Park left. Dr. MP Roew spoke."),
        {},
        IdentifiersConfig.model_validate({}),
        turns=[Turn(text)],
    )
    assert suppress(text, names)[0] == (
        "As Mr. [Executive 1] said, the new Park opened; Mr. [Executive 1] left. "
        "Dr. [Executive 2] spoke."
    )


@pytest.mark.parametrize(
    "text, companies, symbols, aliases",
    [
        ("We show the results of Rostow for the third quarter.", [], [], ["Rostow"]),
        # Where nothing else names the company, what it owns does.
        (
            "Quux's net result rose. Quux's portfolio grew and Quux continues to lead.",
            [],
            [],
            ["Quux"],
        ),
        (
            "Quux's net result rose. Quux's portfolio grew and Quux continues to lead.",
            ["Acme"],
            [],
            [],
        ),
        ("At Frobozz it went well; Frobozz grew, and for Frobozz more is to come.", [], [], []),
        # A ticker abbreviates the name.
        (
            "It is not new to Frobozz. Frobozz grew. Within Frobozz, we work.",
            [],
            ["FRBZY"],
            ["Frobozz"],
        ),
        ("It is not new to Frobozz. Frobozz grew. Within Frobozz, we work.", [], ["QXBZY"], []),
        ("Foo led. We like a foo. Foo and foo.", [], ["FOOF"], []),
        # One letter more than the initials.
        ("CCI grew. The CCI family is large. With CCI we lead.", ["Coca-Cola"], [], ["CCI"]),
        ("CRI grew. The CRI family is large. With CRI we lead.", ["Coca-Cola"], [], []),
        # As it was heard of a name that was mined itself.
        (
            "Welcome to the Ecopetrov third quarter call. Then Eco Patrov grew.",
            [],
            [],
            ["Ecopetrov", "Eco Patrov"],
        ),
        # An address as it is spoken, and a parent under its full name.
        ("Write to us by chat, @quuxly, dot, uh, com.", [], [], ["quuxly"]),
        ("Welcome to Quuxly's 2 / 1 / 2022 results conference call.", [], [], ["Quuxly"]),
        ("Acme Pay is a wholly owned subsidiary of Scanfoo PLC.", [], [], ["Scanfoo PLC"]),
    ],
)
def test_more_frames_of_the_companys_own_names(text, companies, symbols, aliases):
    assert mine_aliases([Turn("Hello."), Turn(text)], companies, (), symbols) == aliases


@pytest.mark.parametrize(
    "text, released",
    [
        ("Our MyAcme app and AcmePay grew.", "Our [Company Name] app and [Company Name] grew."),
        ("The Acmeist and macmeX stay.", "The Acmeist and macmeX stay."),
        ("At Acme Quantum Works Inc. it is so.", "At [Company Name] it is so."),
        ("Acme Acciones y Valores S.A. is listed.", "[Company Name] is listed."),
        ("Acme, Globex Partners Inc. met.", "[Company Name], Globex Partners Inc. met."),
        ("Acme met Globex Inc. there.", "[Company Name] met Globex Inc. there."),
        ("Mr. MP Vijow Roe, our CFO.", "Mr. [Executive 1], our CFO."),
        (
            "Iv Marl, CEO. Thanks, Iv, for phase IV. Ken Marl III, or Ken Marl Jr., spoke.",
            "[Executive 2], CEO. Thanks, [Executive 2], for phase IV. [Executive 3], or "
            "[Executive 3], spoke.",
        ),
        (
            "R-Roe and V- Vi- Vijow of Q-Quantrel.",
            "[Executive 1] and [Executive 1] of [Company Name].",
        ),
        (
            "A pre-Acme time, a re- Roe and an X-Acme.",
            "A pre-[Company Name] time, a re- [Executive 1] and an X-[Company Name].",
        ),
        ("Quan- we at Quantrel grew.", "[Company Name]- we at [Company Name] grew."),
        ("So Vij-, Vijow spoke.", "So [Executive 1] spoke."),
        ("Quan-based work, quan- and Qu- and The- stay.",) * 2,
    ],
)
def test_what_is_joined_to_a_name_goes_with_it(text, released):
    known = [
        Identifier("company", "Acme", "[Company Name]"),
        Identifier("company", "Quantrel", "[Company Name]"),
        Identifier("company", "Therabond", "[Company Name]"),
        Identifier("person", "Vijow Roe", "[Executive 1]"),
        Identifier("person", "Iv Marl", "[Executive 2]"),
        Identifier("person", "Ken Marl III", "[Executive 3]"),
    ]
    assert suppress(text, known)[0] == released


@pytest.mark.parametrize(
    "text, names",
    [
        ("Hosted by Deep Kalrow, our company's Founder and Chairman.", ["Deep Kalrow"]),
        ("Well done Kasia and team.", ["Kasia"]),
        ("It was done by Kasia and the team.", ["Kasia"]),
        ("Then Kasia and her team left.", ["Kasia"]),
        ("Thank you Kasia, Bonnow, and good morning.", ["Kasia", "Bonnow"]),
        ("We give Euro, thank you. As Ninety One said, it is so.", []),
    ],
)
def test_whose_team_it_is(text, names):
    assert mined(text) == names


def test_a_company_that_is_an_ordinary_word_is_mined_where_it_is_never_written_small():
    text = "Welcome to the Aspen third quarter call. " + "We grew at Aspen, and Aspen grew. " * 3
    assert mine_aliases([Turn("Hello."), Turn(text)]) == ["Aspen"]
    assert mine_aliases([Turn("Hello."), Turn(text + "An aspen stands there.")]) == []


def test_abbreviated_words_of_a_companys_name_are_spoken_in_full():
    known = [Identifier("company", "Chr. Hansow Holding Inc", "[Company Name]")]
    assert suppress("So Christian Hansow grew.", known)[0] == "So [Company Name] grew."
    known = [Identifier("company", "QXYM Polsko Miedow SA", "[Company Name]")]
    assert suppress("So Polsko Miedow grew.", known)[0] == "So [Company Name] grew."
    known = [Identifier("company", "Aspen Pharmo Ltd", "[Company Name]")]
    shown = suppress("We and the Aspen Board met; see Aspen Highlands.", known)[0]
    assert shown == "We and the [Company Name] Board met; see Aspen Highlands."
    known = [Identifier("company", "MakeOurQuux Ltd", "[Company Name]")]
    assert suppress("So MOQ grew.", known)[0] == "So [Company Name] grew."


@pytest.mark.parametrize("thing", ["your HomeShield Plus", "another Elm Lounge", "every Nora Plus"])
def test_what_somebody_has_is_no_person(thing):
    turns = [Turn(f"I have looked into {thing} and I am sorry that it did not work.")]
    assert mine_people(turns, ["Kestrel Insurance plc"]) == []


def test_who_is_known_by_a_surname_has_a_first_name_too():
    texts = [
        "I understand from Wei Lindqvist that the board meets. Mr Lindqvist wrote to us, and "
        "Chairman Lindqvist, he says, as in May Lindqvist and the Swedish Lindqvist works.",
        "We thank Mr. Orban for the figures. Orban left, and the Orban plant too.",
    ]
    assert mine_people([Turn(t) for t in texts], ["Kestrel Insurance plc"]) == [
        "Wei Lindqvist",
        "Orban",
    ]


def test_a_known_last_name_that_is_a_word_is_nobody_new():
    assert mined("We saw Mr. Rose. Mr. Rose was well, Ms. Stone too.", known=["Ann Rose"]) == [
        "Mr. Stone"
    ]


def test_people_whom_a_text_presents_are_nobody_of_another_kind():
    """A columnist is told apart from whom she writes of, and is not found a second time."""
    text = (
        "This is Cecily Marwood. With us today is Ann Roe, our chief financial officer, and "
        "Cecily Marwood, our host."
    )
    kinds = {
        "person": {"placeholder": "[Person #]", "rule": "person"},
        "columnist": {"placeholder": "[Columnist #]", "rule": "person"},
    }
    config = IdentifiersConfig.model_validate({"kinds": kinds})
    found, _ = known_identifiers(text, {"columnist": ["Cecily Marwood"]}, config)
    assert {(i.kind, i.value, i.placeholder) for i in found} == {
        ("columnist", "Cecily Marwood", "[Columnist 1]"),
        ("person", "Ann Roe", "[Person 1]"),
    }


def test_a_last_name_that_is_a_word_is_found_behind_a_rank():
    people = [Identifier("person", "Ann Field", "[Person 1]")]
    text = "Driver Field told them. The field was wet, and nobody saw the Field again."
    shown, _ = suppress(text, people)
    assert shown == text.replace("Field told", "[Person 1] told")


@pytest.mark.parametrize(
    "text, expected",
    [
        # the gates were green: nothing listed these
        ("Mr Bell was out. swearing at mr bell again", "Mr # was out. swearing at mr # again"),
        ("She swore at mr bell. He rang the bell.", "She swore at mr #. He rang the bell."),
        ("Ask Miss T at the gate, in week T.", "Ask Miss # at the gate, in week T."),
        ("From: Miss T\nMiss T's class", "From: Miss #\nMiss #'s class"),
        ("to leave Miss T. I hope he", "to leave Miss #. I hope he"),
        ("to leave Miss T. Kumar on", "to leave Miss # on"),
        # no names
        ("Yes Miss I did", "Yes Miss I did"),
        ("thank you mr chairman, mr and mrs", "thank you mr chairman, mr and mrs"),
        ("Mr T Kumar left", "Mr # left"),
    ],
)
def test_who_has_a_title_before_a_letter_or_in_small_letters(text, expected):
    config = IdentifiersConfig.model_validate({})
    found, _ = known_identifiers(text, {}, config)
    assert re.sub(r"\[Executive \d\]", "#", suppress(text, found)[0]) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I rang. Rep Dale said he had been there for years.", "Dale"),
        ("I rang. Agent Faith said no.", "Faith"),
        ("I spoke with Representative Tasha Moore, who told me.", "Tasha Moore"),
    ],
)
def test_who_serves_customers_is_called_by_the_name_alone(text, name):
    # of "Rep Dale" each "rep" of the text would be a first name
    assert mined(text) == [name]


@pytest.mark.parametrize(
    "text, names",
    [
        ("Ann Roew, whom many of you know from Globex, joins us.", ["Ann Roew"]),
        ("We promoted Cy Poew, effective May 1, and Ann Roew joined our board.", ["Ann Roew"]),
        ("Bo Leen, who runs our plants, said so.", ["Bo Leen"]),
        ("He succeeds Ann Roew as lead director.", ["Ann Roew"]),
        ("A team under Bo Leen moved the line.", ["Bo Leen"]),
        # Last names that are mostly things, and names of ordinary words.
        ("I also thank Jeff Park and the whole team.", ["Jeff Park"]),
        ("Kasia Page, our CFO, will follow.", ["Kasia Page"]),
        ("Holly Winter and I went to see them.", ["Holly Winter"]),
        # None of these is a person.
        ("Globex joined our network. Condor Park is open.", []),
        ("Joining me in the room in Newport Beach are Bo Leen, our CFO, and others.", ["Bo Leen"]),
        ("We were led by Paris Street, which grew.", []),
        ("Customers such as Condorham Foods and Balfour Poet placed more with us.", []),
        ("With me today is Bo Leen, who runs Condor Pass, our site.", ["Bo Leen"]),
        ("Here is Bo Leen, head of Condor Pass.", ["Bo Leen"]),
    ],
)
def test_who_leads_joins_and_follows(text, names):
    found = mined(text)
    assert set(found) - {"Cy Poew"} == set(names)
