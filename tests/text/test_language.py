import pytest

from nes_spark.config import IdentifiersConfig, PresentationConfig
from nes_spark.demo import filings, notes
from nes_spark.demo.calls import calls
from nes_spark.text.language import KNOWN_SHARE, known_share, speaks_english
from nes_spark.text.reading import Document, RawDocument, prepare_document

OTHERS = {
    "German": "Guten Morgen und willkommen. Im dritten Quartal haben wir den Umsatz um zehn "
    "Prozent "
    "gesteigert, und das Ergebnis war so gut wie noch nie. Die Nachfrage in Deutschland war stark.",
    "French": "Bonjour à tous et bienvenue. Au troisième trimestre, le chiffre d'affaires a "
    "augmenté "
    "de dix pour cent et le résultat est meilleur que jamais. On attend une hausse.",
    "Spanish": "Buenos días a todos. En el tercer trimestre las ventas crecieron un diez por "
    "ciento "
    "y el resultado fue mejor que nunca. No obstante, la demanda en España sigue fuerte.",
    "Dutch": "Goedemorgen en welkom. In het derde kwartaal is de omzet met tien procent gestegen "
    "en "
    "was het resultaat beter dan ooit. We had dat al gezegd, maar de vraag was sterk.",
    "Swedish": "God morgon och välkomna. Under tredje kvartalet ökade försäljningen med tio "
    "procent "
    "och resultatet var bättre än någonsin.",
    "Russian": "Доброе утро. В третьем квартале выручка выросла на десять процентов.",
    "Chinese": "大家早上好，欢迎参加本公司第三季度电话会议。本季度收入增长了百分之十。",
}


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_are_told(language):
    assert not speaks_english(OTHERS[language])


def test_english_of_all_kinds_is_english():
    spoken = [" ".join(t["text"] for t in document["turns"]) for document, _ in calls(20)]
    written = [document["text"] for document, _ in [*notes(), *filings()]]
    assert min(map(known_share, spoken + written)) > KNOWN_SHARE + 0.05


NOTES = {
    "nursing": "13MAY22 - Heron Ward\nIDA MOSS / 41451\nSkin tear R forearm dressed (Mepilex). "
    "Datix 22-13036 completed. Moss c/o pain +++, Oramorph 5mg given @ 0340. BMs 4.2 / 11.8. "
    "Cannula L ACF VIP 0. Site satisfactory. Echo: LVEF 35%, moderate MR. Spoke with Sunny Bank, "
    "happy to have Ida back Sunday. Catheter draining 40mls/hr. Dr Rees r/v'd. Hand over to HCA "
    "Wendy.",
    "drugs": "Ida Moss, Heron Ward. Allergies: Penicillin, Codeine. Medication: Ramipril 5mg OD, "
    "Bisoprolol 2.5mg OD, Lansoprazole 30mg, Atorvastatin 80mg nocte. Stopped by GP: Naproxen. "
    "Lantus 18 units with tea. Dr Rees to review. Hb 101, MCV 78, CRP 4.",
}


@pytest.mark.parametrize("kind", NOTES)
def test_notes_full_of_names_and_abbreviations_are_english(kind):
    assert known_share(NOTES[kind]) > KNOWN_SHARE
    assert known_share(NOTES[kind].upper()) < known_share(NOTES[kind])


@pytest.mark.parametrize("language", OTHERS)
def test_capitals_make_no_language_english(language):
    assert not speaks_english(OTHERS[language].upper())
    assert not speaks_english(OTHERS[language].title())


def test_a_text_without_words_says_nothing():
    assert known_share("12 % | 14 %") is None
    assert speaks_english("12 % | 14 %")


def test_the_share_is_a_column_of_the_documents():
    config = IdentifiersConfig.model_validate({})
    raw = RawDocument("1", "Acme", None, OTHERS["German"])
    document = prepare_document(raw, PresentationConfig(method="none"), config)
    assert isinstance(document, Document)
    assert document.known_words == known_share(OTHERS["German"]) < KNOWN_SHARE
