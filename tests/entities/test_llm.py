"""A language model as the recogniser, against a server on the loopback."""

from pathlib import Path

import pytest

from nes_spark.entities import load_recognizer
from nes_spark.errors import ConfigError, InfrastructureError
from tests.loopback import Loopback

pytestmark = pytest.mark.filterwarnings("ignore:Task supports sharding")
pytest.importorskip("spacy_llm", reason="needs the extra spacy-llm")

SHIPPED = Path(__file__).parents[2] / "conf" / "llm_recognizer.cfg"
TEXTS = ["In March 2020, Ann Roe of Acme showed Zorbix in Oslo.", "Nothing here.", "Acme grew."]


def answer(messages):
    text = messages[-1]["content"]
    asked = text.rsplit("Text:", 1)[-1]
    if "Zorbix" in asked:
        return (
            "ORG: Acme\nPERSON: Ann Roe\nPRODUCT: Zorbix\nLOC: Oslo\nDATE: March 2020\nEVENT: none"
        )
    return "ORG: Acme" if "Acme" in asked else "ORG:\nPERSON:"


def config_for(server, folder, **more):
    text = SHIPPED.read_text(encoding="utf-8")
    text = text.replace("https://api.openai.com/v1", server.base_url)
    for old, new in more.items():
        text = text.replace(old, new)
    path = folder / "llm.cfg"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_any_compatible_server_recognises_the_six_categories(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-loop")
    with Loopback(answer=answer, key="sk-loop", script=["429", "500"]) as server:
        found = load_recognizer(config_for(server, tmp_path))(TEXTS)
        paths = {request.path for request in server.requests}
        bodies = [request.body for request in server.requests]
    assert [(m.surface, m.category) for m in found[0]] == [
        ("March 2020", "Date"),
        ("Ann Roe", "Person"),
        ("Acme", "Organization"),
        ("Zorbix", "Product"),
        ("Oslo", "Location"),
    ]
    assert found[1] == []
    assert [(m.start, m.category) for m in found[2]] == [(0, "Organization")]
    assert paths == {"/v1/chat/completions"}
    assert {body["model"] for body in bodies} == {"gpt-4o-mini"}
    assert all(body["temperature"] == 0 for body in bodies)


def test_an_empty_answer_is_no_absence_of_entities(tmp_path):
    with Loopback(answer=lambda messages: "") as server:
        recognizer = load_recognizer(config_for(server, tmp_path))
        with pytest.raises(InfrastructureError, match="empty or cut answer"):
            recognizer(TEXTS[:1])


def test_a_refusal_names_the_server_and_not_the_text(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    with Loopback(answer=answer, key="right") as server:
        recognizer = load_recognizer(config_for(server, tmp_path))
        with pytest.raises(InfrastructureError) as caught:
            recognizer(TEXTS[:1])
    assert "AuthenticationError" in str(caught.value)
    assert "Acme" not in str(caught.value) and "wrong" not in str(caught.value)


def test_a_broken_configuration_is_one_line(tmp_path):
    path = tmp_path / "bad.cfg"
    path.write_text('[nlp]\nlang = "en"\npipeline = ["llm"]\n', encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_recognizer(str(path))
    assert "\n" not in str(caught.value)
