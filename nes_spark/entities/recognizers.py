"""Load recognisers by name and turn what they find into mentions.

The bundled pipeline, any installed spaCy pipeline and pipelines on disk go through the same door:
:func:`load_recognizer`. A recogniser is loaded once per process and configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark.config import EntitiesConfig
from nes_spark.entities.keys import with_whole_addresses
from nes_spark.entities.mentions import Mention, disjoint, placeholder_spans
from nes_spark.errors import ConfigError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from nes_spark.entities.component import Alone

#: Text that a piece is of, where the piece begins in it, and whether it is the last one.
_Place = tuple[str, int, bool]

#: The pipeline that comes with the package.
BUNDLED = Path(__file__).parent / "models" / "bundled"

#: Name of what takes its place when spans come with the input.
GIVEN = "given"

#: Longer texts are recognised in pieces, so that memory does not grow with the longest text.
MAX_CHARACTERS = 4000

#: Components of spaCy's own English pipelines that recognition does not need.
_UNUSED = ("tagger", "parser", "attribute_ruler", "lemmatizer", "senter", "morphologizer")

_SENTENCE_END = re.compile(r"[.!?][\"'”’)]*\s+")
_SPACE = re.compile(r"\s+")


class Recognizer:
    """A callable that finds named entities: list of texts in, list of lists of mentions out.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    nlp : spacy.language.Language
        The pipeline behind it.
    """

    def __init__(self, name: str, nlp: Language, config: EntitiesConfig) -> None:
        self.name = name
        self.nlp = nlp
        self.config = config
        self._alone = _alone(nlp)
        self._deny = {
            category: {form_key(form) for form in forms} for category, forms in config.deny.items()
        }
        self._allow = [
            (category, _forms_pattern(forms)) for category, forms in config.allow.items() if forms
        ]

    def __repr__(self) -> str:
        return f"Recognizer({self.name!r})"

    def __call__(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Return the mentions of each text, sorted by start and never overlapping."""
        return list(self.stream(texts))

    def stream(self, texts: Iterable[str]) -> Iterator[list[Mention]]:
        """Yield the mentions of each text in turn; holds one batch of texts at a time."""

        def pieces() -> Iterator[tuple[str, _Place]]:
            for text in texts:
                bounds = split_long(text)
                for number, (start, end) in enumerate(bounds):
                    last = number == len(bounds) - 1
                    yield text[start:end], (text, start, last)

        spans: list[tuple[int, int, str]] = []
        labels = self.config.labels
        for entities, (text, offset, last) in self._entities(pieces()):
            for start, end, label in entities:
                category = labels.get(label)
                if category is not None:
                    spans.append((offset + start, offset + end, category))
            if last:
                yield self._mentions(text, spans)
                spans = []

    def _entities(
        self, pieces: Iterable[tuple[str, _Place]]
    ) -> Iterator[tuple[list[tuple[int, int, str]], _Place]]:
        """Yield start, end and label of the entities of each piece, and what came with it."""
        if self._alone is None:
            docs = self.nlp.pipe(pieces, as_tuples=True, batch_size=self.config.batch_size)
            for doc, place in docs:
                yield _ents(doc), place
            return
        for piece, place in pieces:
            found = self._alone(piece)
            yield (_ents(self.nlp(piece)) if found is None else found), place

    def _mentions(self, text: str, spans: list[tuple[int, int, str]]) -> list[Mention]:
        blocked = placeholder_spans(text)
        clean = with_whole_addresses(text, disjoint(text, spans, blocked))
        if self._allow:
            always = disjoint(
                text,
                (
                    (match.start(), match.end(), category)
                    for category, pattern in self._allow
                    for match in pattern.finditer(text)
                ),
                blocked,
            )
            clean = sorted(
                always + [c for c in clean if not any(s < c[1] and c[0] < e for s, e, _ in always)]
            )
        return [
            Mention(start, end, category, text[start:end])
            for start, end, category in clean
            if form_key(text[start:end]) not in self._deny.get(category, ())
        ]


def _ents(doc: Doc) -> list[tuple[int, int, str]]:
    return [(e.start_char, e.end_char, e.label_) for e in doc.ents]


def _alone(nlp: Language) -> Alone | None:
    """What stands for a pipeline that is nothing but the bundled rules; None for any other."""
    from nes_spark.entities.component import Alone, RulesComponent

    parts = [part for _, part in nlp.pipeline]
    if len(parts) != 1 or not isinstance(parts[0], RulesComponent):
        return None
    if not Alone.fits(nlp.tokenizer):
        return None
    return Alone(parts[0], nlp.tokenizer)


def form_key(surface: str) -> str:
    """Return what two spellings of the same form share: no case, no article, single spaces."""
    return _SPACE.sub(" ", surface).strip().casefold().removeprefix("the ").rstrip(".,")


def _forms_pattern(forms: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(set(forms), key=lambda form: (-len(form), form))
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, ordered)) + r")(?!\w)")


def split_long(text: str, limit: int = MAX_CHARACTERS) -> list[tuple[int, int]]:
    """Return offsets of consecutive pieces of at most ``limit`` characters.

    A piece ends after a sentence where one ends in its second half, else at white space, else (one
    endless word) at the limit. Pieces cover the text without gap or overlap.
    """
    bounds = []
    start = 0
    while len(text) - start > limit:
        half, full = start + limit // 2, start + limit
        cut = 0
        for match in _SENTENCE_END.finditer(text, half, full):
            cut = match.end()
        if not cut:
            for match in _SPACE.finditer(text, half, full):
                cut = match.end()
        cut = cut or full
        bounds.append((start, cut))
        start = cut
    bounds.append((start, len(text)))
    return bounds


def _load_pipeline(name: str) -> Any:
    import spacy

    import nes_spark.entities.component  # noqa: F401  (registers the rules' factory)

    if name == "bundled":
        return spacy.load(BUNDLED)
    if name.endswith(".cfg"):
        from nes_spark.entities.llm import assemble

        return assemble(name)
    exclude = _UNUSED if name.startswith("en_core_web_") else ()
    try:
        return spacy.load(name, exclude=list(exclude))
    except OSError as error:
        if Path(name).exists():
            raise ConfigError(
                f"entities.recognizer: {name!r} is no spaCy pipeline: {str(error).splitlines()[0]}"
            ) from None
        raise ConfigError(
            f"entities.recognizer: the pipeline {name!r} is not installed; install it with "
            f"`python -m spacy download {name}` or use 'bundled'"
        ) from None


@lru_cache(maxsize=4)
def _cached(name: str, config_json: str) -> Recognizer:
    return Recognizer(name, _pipeline(name), EntitiesConfig.model_validate_json(config_json))


@lru_cache(maxsize=4)
def _pipeline(name: str) -> Any:
    nlp = _load_pipeline(name)
    if not nlp.pipe_names:
        raise ConfigError(
            f"entities.recognizer: the pipeline {name!r} has no components, so it finds no "
            "entities; use one with 'ner' or 'entity_ruler', or 'bundled'"
        )
    return nlp


def load_recognizer(name: str | None = None, config: EntitiesConfig | None = None) -> Recognizer:
    """Load a recogniser by name; once per process for the same name and configuration.

    Parameters
    ----------
    name : str, optional
        ``"bundled"``, the name of an installed spaCy pipeline (``"en_core_web_trf"``), the path of
        one, or of a configuration file ``*.cfg`` with spacy-llm components. Default: what the
        configuration names.
    config : EntitiesConfig, optional
        Mapping of labels to categories, allow and deny lists, batch size.

    Returns
    -------
    Recognizer
        Callable: ``list[str] -> list[list[Mention]]``.

    Raises
    ------
    ConfigError
        When there is no such pipeline, or it has no components.

    Examples
    --------
    >>> recognizer = load_recognizer("bundled")
    >>> [[(m.surface, m.category) for m in found] for found in recognizer(["We opened in Boston."])]
    [[('Boston', 'Location')]]
    """
    settings = config or EntitiesConfig.model_validate({})
    chosen = name or settings.recognizer
    if chosen == GIVEN:
        raise ConfigError(
            "entities.recognizer: 'given' takes the spans of the input (input.columns.mentions); "
            "no recogniser can be asked about other texts"
        )
    return _cached(chosen, settings.model_dump_json())
