"""Sentences of earnings calls made from templates, for training: frames with known slots.

They show the model what a small real source shows too seldom: products, platforms, brands and
programmes in the frames in which speakers name them, beside organisations, people and places in
theirs, and acronyms of finance that are none of these. Names come from the lists of this package
and from a generator of invented names.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from nes_spark.entities.training import Annotated

_SYLLABLES = (
    "al an ar be ber bio bri ca car cel cor cy da den dia do dura ec el en er eva fi flo for ga gen "
    "go ha hel in is ju ka kel la lan lex li lo lu ma mar me mi mo na neo ner ni no nova o ol on or "
    "pa pel per pi po pre qua ra rel ri ro sa san sel sen si so sol ta tel ter ti tor tri u ul va "
    "van ver vi vo wen xa xi ya zen zi zo"
).split()
_ENDINGS = "a o ix ex en is on us ia ium eo iq ify ly ra va max pro one go".split()
_COMMON = (
    "Active Air Always Arc Atlas Aura Beacon Blue Bright Bridge Care Clear Cloud Connect Core Cross "
    "Data Digital Direct Drive Easy Echo Edge Elite Energy Express Fast First Flex Fresh Fusion Go "
    "Green Guard Home Horizon Hub Impact Insight Iron Key Life Lift Light Link Live Loop Max Micro "
    "Mile Mobile Motion My Net Next North Nova Omni One Open Path Peak Pilot Plus Power Prime Pro "
    "Pulse Quick Rapid Ready Rise River Safe Shield Silver Smart Snap Solar Spark Star Stream Sun "
    "Sure Swift Sync Trail True Ultra Vision Vista Wave Wild Wise"
).split()
_HEADS = (
    "Suite Cloud Platform Edge Analytics Select Premium Classic Series Club Rewards Access Express "
    "Advantage Studio Vault Hub Mobile Home Pro Max Plus Lite Collection Reserve Gold Assist Connect"
).split()
_ORG_HEADS = (
    "Inc.;Corporation;Group;Holdings;Partners;Capital;Capital Markets;Securities;Bank;Energy;"
    "Pharmaceuticals;Therapeutics;Technologies;Systems;Industries;Resources;Limited;Ltd.;plc;"
    "Insurance;Foods;Motors;Airlines;Research;Ventures;Healthcare;Financial;Media;Foundation;"
    "University;Authority;Commission;Institute;Association;Ministry;Logistics;Properties"
).split(";")

_FRAMES = """
We launched {PRODUCT} in {LOC} during the quarter, and the response has been strong.
Our {PRODUCT} platform continues to grow at a double-digit rate.
Sales of {PRODUCT} were up 12%, driven by demand for {PRODUCT}.
We are seeing strong adoption of {PRODUCT} and {PRODUCT} among our customers.
The {PRODUCT} brand grew high single digits, and {PRODUCT} gained share.
In addition, {PRODUCT} is now available in {LOC} and {LOC}.
We introduced the next generation of {PRODUCT}, which we expect to ship in the second half.
We also recently announced {PRODUCT}, a new solution for small businesses.
With {PRODUCT}, customers can now manage their orders online.
{PRODUCT} revenue increased 8% year over year.
{PRODUCT} sales were $42 million, compared with $31 million a year ago.
{PRODUCT} performed very well, and we are pleased with the launch of {PRODUCT}.
The rollout of {PRODUCT} remains on track.
Our loyalty program, {PRODUCT}, now has over 2 million members.
Enrollment in our Phase III trial of {PRODUCT} is complete.
The FDA approved {PRODUCT} for the treatment of adults in the quarter.
Turning to {PRODUCT}, we saw continued momentum in {LOC}.
We continue to invest in {PRODUCT}, our digital platform.
Our brands, including {PRODUCT}, {PRODUCT} and {PRODUCT}, outperformed the category.
Customers such as {ORG} and {ORG} have chosen {PRODUCT}.
{ORG} selected our {PRODUCT} solution to upgrade its network.
We migrated our systems to {PRODUCT} last year.
The {PRODUCT} app was downloaded 3 million times.
The integration of {PRODUCT} with {PRODUCT} will be done by year end.
We expect {PRODUCT} to contribute in the back half of the year.
Our new product, {PRODUCT}, was recognized by {ORG}.
We have also expanded distribution of {PRODUCT} to {ORG} and {ORG}.
The {PRODUCT} line, the {PRODUCT} and the {PRODUCT} are all sold out.
Deliveries of the {PRODUCT} begin in the third quarter.
That includes products like {PRODUCT} and services like {PRODUCT}.
Under our {PRODUCT} initiative, we saved $15 million.
We call this program {PRODUCT}.
We acquired {ORG} in {LOC}, which owns the {PRODUCT} brand.
We signed an agreement with {ORG} to distribute {PRODUCT} in {LOC}.
Our partnership with {ORG} is progressing well.
We completed the acquisition of {ORG} for $120 million.
We compete with {ORG}, {ORG} and {ORG} in this market.
{ORG} is our largest customer.
We work with the {ORG} and with regulators in {LOC}.
Our joint venture with {ORG} in {LOC} is ramping up.
Your next question comes from the line of {PERSON} with {ORG}. Please go ahead.
The next question is from {PERSON} of {ORG}.
Our first question comes from {PERSON} from {ORG}.
With me today are {PERSON}, our Chief Executive Officer, and {PERSON}, our Chief Financial Officer.
I will now turn the call over to our CEO, {PERSON}.
I would like to hand the conference over to {PERSON}, Head of Investor Relations at {ORG}.
Thank you, {FIRST}, and good morning, everyone.
Thanks, {FIRST}. Let me take that one.
I'll let {FIRST} comment on the margins, and then {FIRST} can speak to the outlook.
{FIRST}, do you want to take this?
Yes. Hi, {FIRST}. Good question.
As {FIRST} mentioned, adjusted EBITDA was up and SG&A was down.
On a GAAP basis, EPS was $0.42, and free cash flow was positive.
CapEx came in below guidance, while OpEx and R&D were flat.
Our NIM was stable, and the NPL ratio improved.
FX was a headwind of 3%, and the KPIs remain on target.
Our plants in {LOC} and {LOC} restarted in May.
We opened ten stores in {LOC}, {LOC} and {LOC}.
In {LOC}, demand was weaker than in {LOC}.
Our operations across {LOC} were affected by the lockdown.
On Slide 8, you can see our results by segment.
As I said, I think we are in good shape. On the cost side, we did well.
The Board of {ORG} approved the dividend.
According to {ORG}, the market grew 4%.
We filed our Form 10-Q with the {ORG}.
{PERSON} joined us from {ORG} as Chief Operating Officer.
We are excited to welcome {PERSON} to our team in {LOC}.
The Chinese market recovered, and European demand is improving.
""".strip().splitlines()


def invented_product(rng: random.Random) -> str:
    """Return an invented product name: a coined word, two glued words, a code or a phrase."""
    kind = rng.random()
    coined = "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(1, 2))) + rng.choice(
        _ENDINGS
    )
    coined = coined.capitalize()
    if kind < 0.25:
        name = coined
    elif kind < 0.32:
        name = coined.upper()
    elif kind < 0.50:
        name = rng.choice(_COMMON) + rng.choice(_COMMON)
    elif kind < 0.62:
        name = f"{rng.choice(_COMMON)} {rng.choice(_HEADS)}"
    elif kind < 0.72:
        name = f"{coined} {rng.choice(_HEADS)}"
    elif kind < 0.80:
        name = f"{rng.choice(_COMMON)} {rng.choice(_COMMON)}"
    elif kind < 0.88:
        letters = "".join(rng.choice("ABCDEFGHKLMNPRSTVXZ") for _ in range(rng.randint(1, 3)))
        name = f"{letters}{rng.choice(['-', ' ', ''])}{rng.randint(1, 950)}"
    elif kind < 0.94:
        name = f"{coined} {rng.randint(2, 900)}"
    else:
        name = rng.choice(["i", "e", "my", "x"]) + rng.choice(_COMMON)
    return name


def invented_organization(rng: random.Random) -> str:
    """Return an invented name of an organisation."""
    coined = "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(2, 3))).capitalize()
    kind = rng.random()
    if kind < 0.2:
        return "".join(rng.choice("ABCDEFGHIKLMNOPRSTU") for _ in range(3))
    if kind < 0.4:
        return coined
    first = coined if kind < 0.7 else rng.choice(_COMMON)
    return f"{first} {rng.choice(_ORG_HEADS)}"


def template_sentences(
    donors: dict[str, list[str]], rng: random.Random, count: int = 3000
) -> list[Annotated]:
    """Return ``count`` texts of one to three sentences with their spans.

    Parameters
    ----------
    donors : mapping of str to list of str
        Real surfaces by label (ORG, PRODUCT, PERSON, LOC) that fill slots beside invented ones.
    rng : random.Random
        Source of randomness.
    count : int
        Number of texts.
    """
    texts = []
    for _ in range(count):
        pieces: list[str] = []
        ents: list[tuple[int, int, str]] = []
        length = 0
        for frame in rng.sample(_FRAMES, rng.randint(1, 3)):
            for part in re.split(r"(\{[A-Z]+\})", (" " if length else "") + frame):
                if part.startswith("{"):
                    label = part.strip("{}")
                    surface = _fill(label, donors, rng)
                    label = "PERSON" if label == "FIRST" else label
                    ents.append((length, length + len(surface), label))
                    part = surface
                pieces.append(part)
                length += len(part)
        texts.append(Annotated("".join(pieces), tuple(ents), source="templates"))
    return texts


def _fill(
    label: str, donors: dict[str, Sequence[str]] | dict[str, list[str]], rng: random.Random
) -> str:
    if label == "PRODUCT" and rng.random() < 0.6:
        return invented_product(rng)
    if label == "ORG" and rng.random() < 0.3:
        return invented_organization(rng)
    if label == "FIRST":
        return rng.choice(donors["PERSON"]).split()[0]
    return rng.choice(donors[label])
