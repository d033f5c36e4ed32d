"""Written forms of names: what is told before cleanco is asked is what cleanco would say."""

import pytest
from cleanco import basename, prepare_default_terms

from nes_spark.text import forms

LEGAL = sorted({" ".join(term) for _, term in prepare_default_terms()})
#: How a legal form may be written behind a name.
WRITTEN = (
    "Acme {0}", "ACME {0}.", "Acme, {0}", "Acme - {0} !", "The Acme-{0} (UK) {0}", "Acme {0} Works",
    "Acme{0}", "Éclair {0}", "Acme\n{0}\n", "{0}", "{0} Acme", "Acme x{0}",
)  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN)
def test_names_lose_their_legal_form_as_cleanco_has_it(written):
    names = [written.format(shown) for term in LEGAL for shown in (term, term.upper())]
    names += [written.format(". ".join(term) + ".") for term in LEGAL if term.isalpha()]
    with pytest.MonkeyPatch.context() as patch:
        found = [forms._without_legal(name) for name in names]
        # asked about every name
        patch.setattr(forms, "_legal_ends", lambda: _Everything())
        assert found == [forms._without_legal(name) for name in names]


def test_cleanco_is_asked_only_where_a_name_may_end_in_a_legal_form(monkeypatch):
    asked = []
    monkeypatch.setattr(forms, "basename", lambda name: asked.append(name) or basename(name))
    assert forms._without_legal("Foxglove Capital,") == "Foxglove Capital" and not asked
    assert forms._without_legal("Foxglove, Inc.") == "Foxglove" and asked == ["Foxglove, Inc."]
    assert forms._without_legal("Éclair") == "Éclair" and asked[1:] == ["Éclair"]


class _Everything:
    def __contains__(self, word):
        return True
