"""The sections of the configuration: one validated model per stage.

A stage depends on the sections that its row in the pipeline names; changing another section does
not make its output stale.
"""

from __future__ import annotations

import csv
import difflib
import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from nes_spark.config.faults import describe_fault, set_dotted
from nes_spark.config.limits import oversized
from nes_spark.config.patterns import check_pattern
from nes_spark.errors import ConfigError

#: Category names stand in tables, file names, metrics and, joined with "+", in combinations.
CATEGORY_NAME = re.compile(r"[^\W\d_][\w -]{0,39}")
DEFAULT_CATEGORIES = ("Organization", "Person", "Event", "Product", "Location", "Date")
#: Categories that the program knows by their names, whatever leads to them.
_KNOWN = (*DEFAULT_CATEGORIES, "Name", "Quantity", "Term")
#: Category of what ``entities.clues`` lists and of telling words, and what stands in its place.
_CLUE, _SHOWN_AS = "Clue", "[Term]"

_AnySection = TypeVar("_AnySection", bound="Section")


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, values are immutable, numbers make sense."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _no_truth(cls, values: Any) -> Any:
        """Refuse true and false where a number is meant: they would be 1 and 0."""
        if isinstance(values, dict):
            for name, value in values.items():
                field = cls.model_fields.get(name)
                kinds = () if field is None else get_args(field.annotation) or (field.annotation,)
                if isinstance(value, bool) and {int, float} & set(kinds) and bool not in kinds:
                    raise ValueError(f"{name}: a number is needed (got {value})")
        return values

    @model_validator(mode="before")
    @classmethod
    def _off(cls, values: Any) -> Any:
        """Read ``off`` as it is written: YAML 1.1 takes it for false."""
        if not isinstance(values, dict):
            return values
        words = {name for name, f in cls.model_fields.items() if "off" in get_args(f.annotation)}
        return {k: "off" if v is False and k in words else v for k, v in values.items()}

    @model_validator(mode="after")
    def _sensible(self: _AnySection) -> _AnySection:
        fields = type(self).model_fields
        own = frozenset(
            name
            for name, field in fields.items()
            if any(hasattr(bound, "le") or hasattr(bound, "lt") for bound in field.metadata)
        )
        found = list(oversized({name: getattr(self, name) for name in fields}, own))
        if found:
            raise ValueError("; ".join(found))
        return self


class ColumnsConfig(Section):
    """Which input columns hold what. Dotted names reach into nested objects."""

    document_id: str = Field("document_id", description="unique id of a document")
    metadata: str = Field("company_name", description="what must stay secret")
    period: str | None = Field(None, description="cross-section, e.g. a quarter")
    text: str | None = Field(None, description="the whole text as one string")
    turns: str | None = Field(None, description="array of speaker turns (objects)")
    turn_text: str = Field("text", description="text inside a turn")
    turn_speaker: str = Field("speaker", description="speaker name or label inside a turn")
    turn_speaker_id: str | None = Field(None, description="speaker id inside a turn")
    mentions: str | None = Field(
        None,
        description="array of spans that were found elsewhere (start, end, label, and the number "
        "of the turn, turn, where there are turns; code points from 0), for entities.recognizer: "
        "given",
    )
    covariates: dict[str, str] = Field(default_factory=dict, description="name -> column")
    identifiers: dict[str, list[str]] = Field(
        default_factory=dict,
        description="kind of direct identifier -> columns holding values of it (strings, lists or "
        "id -> name objects)",
    )

    @model_validator(mode="after")
    def _one_text(self) -> ColumnsConfig:
        if (self.text is None) == (self.turns is None):
            raise ValueError("give exactly one of 'text' (a string) and 'turns' (an array)")
        return self


#: Formats of files that are read without a data source of Spark.
FILE_FORMATS = ("auto", "jsonl", "parquet", "csv", "text")
#: What stands before the name of a data source, or of a table of the session's catalogs.
SOURCE, TABLE = "spark:", "table:"
_SOURCE_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_PART = r"(?:\w+|`[^`]+`)"
_TABLE_NAME = re.compile(rf"{_PART}(?:\.{_PART}){{0,3}}")
_ENVIRONMENT = "env:"


def _check_source(value: str, files: Sequence[str]) -> str:
    known = value in files or value == "delta"
    known = known or (
        value.startswith(SOURCE) and bool(_SOURCE_NAME.fullmatch(value.removeprefix(SOURCE)))
    )
    known = known or (
        value.startswith(TABLE) and bool(_TABLE_NAME.fullmatch(value.removeprefix(TABLE)))
    )
    if not known:
        raise ValueError(
            f"unknown format {value!r}; give {', '.join((*files, 'delta'))}, spark:NAME (a data "
            "source of Spark, for example spark:orc) or table:CATALOG.SCHEMA.TABLE"
        )
    return value


def missing_variables(options: Mapping[str, str], place: str) -> list[str]:
    """Say which options stand in environment variables that are not set, a line each."""
    return [
        f"{place}.{key}: the environment variable {value.removeprefix(_ENVIRONMENT)!r} is not set"
        for key, value in options.items()
        if value.startswith(_ENVIRONMENT) and value.removeprefix(_ENVIRONMENT) not in os.environ
    ]


def with_environment(options: Mapping[str, str], place: str) -> dict[str, str]:
    """Return options with the values that stand in environment variables.

    Raises
    ------
    ConfigError
        When a variable is not set.
    """
    for fault in missing_variables(options, place):
        raise ConfigError(fault)
    return {
        key: os.environ[value.removeprefix(_ENVIRONMENT)]
        if value.startswith(_ENVIRONMENT)
        else value
        for key, value in options.items()
    }


class InputConfig(Section):
    """Where the documents are and how to read them."""

    path: str | None = Field(None, description="file, folder or glob; --input overrides it")
    format: str = Field(
        "auto",
        description="auto (goes by the extension), jsonl, parquet, csv; text: a folder of .txt "
        "files; delta: a Delta table's folder (package deltalake); spark:NAME: any data source of "
        "the session, e.g. spark:orc; table:CATALOG.SCHEMA.TABLE: a table of its catalogs",
    )
    options: dict[str, str] = Field(
        default_factory=dict,
        description="format spark:NAME and table:NAME: options of the reader; 'env:VARIABLE' takes "
        "a value, for example a password, from the environment",
    )
    columns: ColumnsConfig = Field(default_factory=lambda: ColumnsConfig(text="text"))
    metadata_table: str | None = Field(
        None,
        description="format text: CSV, JSON Lines or Parquet with one row a file; its column "
        "'file' holds the file's path inside the folder",
    )
    max_characters: int = Field(2_000_000, ge=1, description="a longer document is quarantined")
    min_characters: int = Field(1, ge=1, description="a shorter presentation is quarantined")
    foreign: Literal["keep", "quarantine"] = Field(
        "keep",
        description="what becomes of a text of 30 words and more that does not look like English "
        "(less than a fifth of them are frequent words of English): the bundled recogniser misses "
        "names in it and takes words of it for names, which come into other texts",
    )

    @field_validator("format")
    @classmethod
    def _known_format(cls, value: str) -> str:
        return _check_source(value, FILE_FORMATS)

    @model_validator(mode="after")
    def _options_of_sources(self) -> InputConfig:
        if self.options and not self.format.startswith((SOURCE, TABLE)):
            raise ValueError("'options' go with format spark:NAME or table:NAME")
        return self

    @property
    def from_table(self) -> bool:
        """Whether the documents are rows of a table or data source, not records of files."""
        return self.format == "delta" or self.format.startswith((SOURCE, TABLE))

    @property
    def paths(self) -> list[str]:
        """The paths that are read: of the documents, and of the table that says whose texts are."""
        return [path for path in (self.path, self.metadata_table) if path]


class PresentationConfig(Section):
    """Which part of a document is used (paper, section 3.1.1)."""

    method: Literal["earnings_call", "none"] = Field(
        "earnings_call", description="what is said before the questions, or the whole text"
    )
    require_questions: bool = Field(
        False, description="quarantine a call in which no question session was found"
    )
    drop_operator: bool = Field(
        True, description="leave out the operator's turns before the questions too"
    )


#: The kind of the value that must stay secret, where no declared kind covers its column.
METADATA_KIND = "metadata"


class IdentifierKind(Section):
    """One kind of direct identifier and what replaces it."""

    placeholder: str = Field(description="e.g. '[Company Name]'; '#' is numbered per document")
    rule: Literal[
        "company",
        "person",
        "ticker",
        "url",
        "email",
        "phone",
        "security",
        "date",
        "literal",
        "pattern",
    ] = Field(
        "literal",
        description="company: also short forms, initials and web domains; person: also surnames "
        "and first names; ticker, url, email, phone, security: by their form; date: a listed day "
        "in every writing; literal: the very words, or the long number in them; "
        "pattern: a regular expression",
    )
    pattern: str | None = Field(None, description="regular expression for rule 'pattern'")

    @model_validator(mode="after")
    def _pattern(self) -> IdentifierKind:
        if (self.rule == "pattern") != (self.pattern is not None):
            raise ValueError("'pattern' goes with rule 'pattern' and only with it")
        if self.pattern is not None:
            _check_pattern("'pattern'", self.pattern)
        return self


def default_kinds() -> dict[str, IdentifierKind]:
    """Return the kinds of direct identifiers that are known without a configuration."""
    return {
        "company": IdentifierKind(placeholder="[Company Name]", rule="company"),
        "ticker": IdentifierKind(placeholder="[Company Name]", rule="ticker"),
        "person": IdentifierKind(placeholder="[Executive #]", rule="person"),
        "url": IdentifierKind(placeholder="[URL]", rule="url"),
        "email": IdentifierKind(placeholder="[Email]", rule="email"),
        "phone": IdentifierKind(placeholder="[Phone]", rule="phone"),
        "security": IdentifierKind(placeholder="[Security Number]", rule="security"),
    }


#: Countries whose national phone numbers are found without being told.
PHONE_REGIONS = ("US", "GB", "DE", "FR", "IT", "ES", "BR", "MX", "IN", "JP", "CN", "AU")


class IdentifiersConfig(Section):
    """Direct identifiers to suppress (paper, section 3.1.3)."""

    kinds: dict[str, IdentifierKind] = Field(default_factory=default_kinds)
    speakers: bool = Field(True, description="names of a document's own speakers are persons")
    mined_aliases: Literal["off", "propose", "use"] = Field(
        "use", description="aliases found by frames such as 'we at X' or 'welcome to the X call'"
    )
    mined_people: bool = Field(
        True,
        description="people whom a document presents as its own ('Ann Roe, our CFO', 'over to "
        "Ann') are persons",
    )
    allow: list[str] = Field(default_factory=list, description="forms that are never suppressed")
    phone_regions: list[str] = Field(
        default_factory=lambda: list(PHONE_REGIONS),
        description="ISO codes of the countries whose national phone numbers count; international "
        "ones (+44 ...) always do",
    )

    @field_validator("phone_regions")
    @classmethod
    def _regions(cls, value: list[str]) -> list[str]:
        from phonenumbers import SUPPORTED_REGIONS

        unknown = [region for region in value if region not in SUPPORTED_REGIONS]
        if unknown:
            raise ValueError(
                f"no country has the code {', '.join(map(repr, unknown))}; use two capital letters "
                "of ISO 3166, for example 'GB'"
            )
        return value

    @field_validator("kinds")
    @classmethod
    def _reserved(cls, value: dict[str, IdentifierKind]) -> dict[str, IdentifierKind]:
        if METADATA_KIND in value:
            raise ValueError(
                f"{METADATA_KIND!r} stands for the value that must stay secret; give this kind "
                "another name"
            )
        return value


class ChunkingConfig(Section):
    """Semantic chunker (paper, section 3.1.2)."""

    threshold: float = Field(75.0, ge=0, le=100, description="percentile of distances that breaks")
    buffer: int = Field(1, ge=0, le=10, description="neighbours embedded with each sentence")
    max_words: int | None = Field(
        None,
        ge=1,
        description="chunks of more words (of the original text) are broken again, between the "
        "sentences that differ most; a sentence is cut only where it has more than twice as many. "
        "The less a passage holds, the less tells whose it is: goes with output.publish: chunks, "
        "as documents put the passages together again",
    )
    embedding: Literal["auto", "bundled", "same"] = Field(
        "auto",
        description="what embeds sentences to find the breaks: the bundled vectors, or the same "
        "model as embedding.model; auto: bundled where that is contextual, which reads a hundred "
        "sentences a second where bundled vectors take forty thousand",
    )


#: Those of nes_spark.entities.currencies.CODES.
Currency = Literal[
    "USD", "CAD", "AUD", "HKD", "EUR", "GBP", "JPY", "CNY", "CHF", "MXN", "INR", "SEK", "NOK",
    "DKK", "BRL", "NZD", "SGD", "TWD", "KRW", "RUB", "TRY", "PLN", "CZK", "HUF", "RON", "UAH",
    "KZT", "ZAR", "NGN", "GHS", "KES", "EGP", "ILS", "AED", "SAR", "KWD", "IDR", "MYR", "PHP",
    "THB", "VND", "COP", "CLP", "ARS", "PEN",
]  # fmt: skip


class EntitiesConfig(Section):
    """Recognition, linking and cells (paper, section 3.1.4)."""

    recognizer: str = Field(
        "bundled",
        description="'bundled', a spaCy pipeline's name, or a path; 'given': the spans of "
        "input.columns.mentions take its place",
    )
    categories: list[str] = Field(
        default_factory=lambda: list(DEFAULT_CATEGORIES),
        min_length=1,
        description="kinds of names that are told apart; the others are dropped",
    )
    labels: dict[str, str] = Field(
        default_factory=lambda: {
            "ORG": "Organization",
            "NORP": "Organization",
            "PERSON": "Person",
            "PER": "Person",
            "EVENT": "Event",
            "PRODUCT": "Product",
            "WORK_OF_ART": "Product",
            "GPE": "Location",
            "LOC": "Location",
            "FAC": "Location",
            "DATE": "Date",
        },
        description="recogniser's label -> category; other labels are dropped",
    )
    deny: dict[str, list[str]] = Field(
        default_factory=dict,
        description="category -> forms that are never one; the sweep leaves them alone, too",
    )
    allow: dict[str, list[str]] = Field(
        default_factory=dict, description="category -> forms that always are"
    )
    linking: bool = Field(True, description="link variants of a name within a document")
    corpus_consistency: bool = Field(
        True, description="a form takes the category it has in most chunks of the corpus"
    )
    consistent_categories: list[str] = Field(
        default_factory=lambda: ["Organization", "Person"],
        description="categories that vote and change under corpus_consistency",
    )
    recoding: dict[str, dict[str, list[str]]] = Field(
        default_factory=dict,
        description="category -> class -> entities merged into it in cells; an entry such as "
        "'re:.* Bank' is a rule, a regular expression for whole names",
    )
    recoding_table: str | None = Field(
        None,
        description="CSV file with the columns category, class, entity; its rows are added to "
        "'recoding'",
    )
    batch_size: int = Field(64, ge=1, description="texts per batch of the recogniser")
    sweep: Literal["off", "report", "treat"] = Field(
        "off",
        description="what the recogniser missed but looks like a name: not looked for, listed in "
        "table swept, or listed and made mentions of category Name, which must then be among "
        "'categories'",
    )
    sweep_share: float = Field(
        0.1,
        ge=0,
        le=1,
        description="abbreviations, codes and capitalised words that more than this share of the "
        "secrets' documents use are no names",
    )
    terms: int = Field(
        100,
        ge=1,
        le=100_000,
        description="words of each document that are its terms, where Term is among the "
        "categories: those that set it apart most from the other documents",
    )
    clues: str | None = Field(
        None,
        min_length=1,
        description="table of words that told somebody whose a chunk is: a .csv, .jsonl or "
        ".parquet file with columns chunk_id and clue, copied from the chunk as released, and, "
        "where it has them, digest as in output.withhold and metadata, which counts where the "
        "chunk is of another run, or where chunk_id is empty: a list of one's own, for all texts "
        "of the metadata. They become [Term] in all texts of the same metadata (category "
        "Clue). 'nes-spark audit' with audit.clues writes one, sealed/clues.csv of the run",
    )
    telling: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="share of the words of all texts of one metadata, outside its names, dates and "
        "figures, that become [Term] (category Clue), terms among them; listed clues come on top. "
        "Those that set these texts apart most are taken until the share is reached, whatever "
        "words they are, verbs and ordinary ones too: nothing else hides as much without a "
        "language model, and most sentences lose some of their meaning. 0 for none",
    )
    currency: Currency | None = Field(
        None,
        description="currency in which amounts come into other texts, where Quantity is among the "
        "categories, so that no sentence has two: that of most texts; null: each in its own",
    )
    sweep_never: list[str] = Field(
        default_factory=list, description="forms that the sweep leaves alone, in any case"
    )
    sweep_always: list[str] = Field(
        default_factory=list,
        description="forms that the sweep takes for names wherever they stand, in any case",
    )

    @model_validator(mode="before")
    @classmethod
    def _read_table(cls, content: Any) -> Any:
        """Put the rows of the table into ``recoding``: what they say decides, not the file."""
        if not isinstance(content, Mapping) or not content.get("recoding_table"):
            return content
        path = content["recoding_table"]
        merged = {
            c: {k: list(v) for k, v in m.items()} for c, m in content.get("recoding", {}).items()
        }
        try:
            with open(path, encoding="utf-8", newline="") as file:
                rows = csv.DictReader(file)
                missing = {"category", "class", "entity"} - set(rows.fieldnames or ())
                if missing:
                    raise ValueError(
                        f"'recoding_table' {path} has no column {', '.join(sorted(missing))}"
                    )
                for row in rows:
                    group = merged.setdefault(row["category"], {}).setdefault(row["class"], [])
                    group.append(row["entity"])
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise ValueError(f"'recoding_table' {path} cannot be read: {reason}") from None
        return {**content, "recoding": merged, "recoding_table": None}

    @field_validator("recoding")
    @classmethod
    def _rules(cls, value: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
        for classes in value.values():
            for group in classes.values():
                for entry in group:
                    if entry.startswith("re:"):
                        _check_pattern(repr(entry), entry.removeprefix("re:"))
        return value

    @field_validator("categories")
    @classmethod
    def _names(cls, value: list[str]) -> list[str]:
        for name in value:
            if not CATEGORY_NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} cannot be a category: names begin with a letter and have letters, "
                    "digits, blanks, hyphens and underscores, 40 at most"
                )
        if len(set(value)) < len(value):
            raise ValueError(f"no category may be named twice, got {value}")
        return value

    @model_validator(mode="after")
    def _known(self) -> EntitiesConfig:
        led = dict.fromkeys([*_KNOWN, *self.labels.values(), *self.allow])
        for category in self.categories:
            # spans that are given may have any category as their label
            if self.recognizer != "given" and category not in (*led, _CLUE):
                close = difflib.get_close_matches(category, led, n=1)
                hint = f" did you mean {close[0]!r}?" if close else ""
                raise ValueError(
                    f"categories: nothing leads to {category!r};{hint} there are "
                    f"{', '.join(led)}; one of your own needs labels or forms that lead to it "
                    "(entities.labels, entities.allow)"
                )
        for field in ("deny", "allow", "recoding"):
            for category in getattr(self, field):
                _known_category(field, category, self.categories)
        for label, category in self.labels.items():
            if category not in self.categories:
                raise ValueError(
                    f"labels: unknown category {category!r}, to which label {label!r} leads; the "
                    f"categories are {self.categories}: add it there, or give 'labels' without it"
                )
        folded = {form.strip().casefold() for form in self.sweep_never}
        if self.sweep == "treat" and "Name" not in self.categories:
            raise ValueError("sweep: 'treat' needs the category 'Name' among 'categories'")
        if both := sorted(f for f in self.sweep_always if f.strip().casefold() in folded):
            raise ValueError(f"'sweep_always' and 'sweep_never' both name {', '.join(both)}")
        return self

    @property
    def never_swept(self) -> tuple[str, ...]:
        """Forms that the sweep leaves alone: ``sweep_never``, and all that ``deny`` lists."""
        return (*self.sweep_never, *(form for forms in self.deny.values() for form in forms))


class EmbeddingConfig(Section):
    """The embedding model."""

    model: str = Field(
        "bundled",
        description="'bundled', 'contextual', 'lsa', 'openai:<model>' or "
        "'sentence-transformers:<name or path>'",
    )
    dimension: int | None = Field(None, ge=2, description="for lsa and openai: vector length")
    base_url: str | None = Field(None, description="OpenAI-compatible endpoint")
    api_key_env: str = Field("OPENAI_API_KEY", description="environment variable with the key")
    batch_size: int = Field(256, ge=1, description="texts per request or forward pass")
    timeout: float = Field(60.0, gt=0, description="seconds a request may take")
    max_retries: int = Field(6, ge=0, description="further attempts for a request")
    cache: bool = Field(True, description="keep vectors by model and content (remote models)")
    cache_path: str | None = Field(None, description="default: <output>/cache/embeddings")
    lsa_sample: int = Field(200_000, ge=100, description="sentences that lsa is fitted on at most")

    @field_validator("model")
    @classmethod
    def _model(cls, value: str) -> str:
        kind, _, rest = value.partition(":")
        if value not in ("bundled", "contextual", "lsa") and (
            kind not in ("openai", "sentence-transformers") or not rest
        ):
            raise ValueError(
                "must be 'bundled', 'contextual', 'lsa', 'openai:<model>' or "
                f"'sentence-transformers:<name or path>', got {value!r}"
            )
        return value

    @model_validator(mode="after")
    def _dimension(self) -> EmbeddingConfig:
        if self.dimension is not None and self.model.partition(":")[0] not in ("lsa", "openai"):
            raise ValueError(
                f"'dimension' is for lsa and openai; {self.model!r} has a length of its own"
            )
        return self


class MixtureConfig(Section):
    """Mixtures on the sphere (paper, section 2.2). Lists span a grid of settings."""

    family: list[str] = Field(
        default=["spcauchy"],
        min_length=1,
        description="pkb, spcauchy or vmf; on real calls pkb, with its heavier tails, closes on "
        "repeated chunks ('Thank you.') far more often",
    )
    n_components: list[int] = Field(
        default_factory=lambda: [10],
        min_length=1,
        description="components K at the start: the topics within which names are exchanged",
    )
    min_weight: list[float] = Field(
        default_factory=lambda: [1e-3],
        min_length=1,
        description="epsilon: components whose weight falls below are removed, from 0 to 1",
    )
    max_concentration: float = Field(
        0.9,
        gt=0,
        lt=1,
        description="ceiling of the concentration rho (of the mean resultant length for vmf): a "
        "component that closed on equal chunks would drown all others in the likelihood",
    )
    n_init: int = Field(5, ge=1, description="restarts; the best likelihood is kept")
    max_iter: int = Field(500, ge=1, description="iterations; reaching them is not convergence")
    tol: float = Field(1e-6, gt=0, description="relative gain of the likelihood that ends the fit")
    in_memory_rows: int = Field(200_000, ge=0, description="more rows are fitted on Spark")
    min_documents: float = Field(
        0.0,
        ge=0,
        description="components with a smaller effective number of documents are removed; 0: none",
    )
    document_penalty: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="what a chunk pays, in nats of log density, in a component made of its own "
        "document alone, and in proportion to its document's share in others; 0: no penalty",
    )
    on_no_convergence: Literal["refuse", "accept"] = Field(
        "refuse", description="what the publication gate does about a fit that did not converge"
    )
    warm_start: str | None = Field(
        None,
        description="run folder whose mixtures the fit starts from, or 'previous': that of the "
        "last period before this one under output.directory that has any; settings it has not, "
        "and a first period, start anew",
    )

    @field_validator("family", "n_components", "min_weight", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return value if isinstance(value, (list, tuple)) else [value]

    @field_validator("n_components")
    @classmethod
    def _positive(cls, value: list[int]) -> list[int]:
        if min(value) < 1:
            raise ValueError(f"every entry must be at least 1, got {value}")
        return value

    @field_validator("min_weight")
    @classmethod
    def _weights(cls, value: list[float]) -> list[float]:
        if min(value) < 0 or max(value) >= 1:
            raise ValueError(f"every entry must be in [0, 1), got {value}")
        return value


class ConstraintsConfig(Section):
    """Optional constraints on valid swaps, each off by default (design, section 4)."""

    min_concentration: float | None = Field(
        None, ge=0, description="components below this concentration are not swapped in"
    )
    same_covariates: list[str] = Field(
        default_factory=list,
        description="covariates that must be equal, e.g. [sector]; a missing one equals a missing",
    )
    max_count_difference: int | None = Field(
        None, ge=0, description="largest difference in the number of entities, per category of J"
    )
    min_cosine: float | None = Field(
        None, ge=-1, le=1, description="smallest cosine of the two chunks' vectors"
    )
    not_swapped_before: bool = Field(
        False, description="a chunk that an earlier round or layer swapped is not swapped again"
    )


Treatment = Literal["donor", "general", "placeholder", "recode", "summary", "drop", "keep"]


def _default_leftover() -> list[Treatment]:
    return ["donor", "placeholder"]


class SummaryConfig(Section):
    """Summaries of chunks by a language model.

    For treatment ``summary`` of plan ``whole`` and for ``output.instead``.
    """

    model: str | None = Field(None, description="name in audit.models; default: the first one")
    prompt: str = Field(
        "Below is a passage of a text whose author must stay unknown. Retell it in your own words "
        "and in the same person, in no more than {words} words and no longer than it is, so that a "
        "reader who knows every candidate, and remembers what they say, cannot tell whose it is. "
        "Keep what is done, how it goes (more or less, better or worse than before) and why, as "
        "far as many could say it. Of products, services, customers, trades, materials, "
        "technologies, places, laws, events, programmes, units and measures say only the most "
        "general kind that they belong to (a product, a line of business, a market, a measure of "
        "ours). Give no name, no figure, no date, no slogan and no turn of phrase of the passage, "
        "and leave out whatever only one or few could say. Leave placeholders in square brackets "
        "out. Reply with the retelling ONLY.\n\n{text}",
        description="{text} is the chunk (for output.instead, as it would be released), {words} "
        "half of max_tokens, an eighth for a brief one",
    )
    max_tokens: int = Field(160, ge=16, le=4096, description="longest summary, in tokens")

    @field_validator("prompt")
    @classmethod
    def _text(cls, value: str) -> str:
        if "{text}" not in value:
            raise ValueError("must hold {text}")
        return value


class ReleasesConfig(Section):
    """The candidate releases (paper, section 2.3; plan ``whole`` goes beyond it)."""

    plan: Literal["pairs", "whole"] = Field(
        "whole",
        description="pairs: the paper's space, two categories and at most max_swaps swaps; whole: "
        "layers of exchanges until nothing that can be exchanged stays, what is left over treated",
    )
    unit: Literal["chunk", "document", "both"] = Field(
        "chunk",
        description="plan whole: what is exchanged as a whole. chunk: the same name becomes "
        "different names in two chunks; document: the same other name throughout, components do "
        "not bind it; both: candidates of either in one frontier, in twice the time",
    )
    neighbours: int = Field(
        1,
        ge=0,
        le=100,
        description="plan whole: nearest other components in which a chunk looks for a partner "
        "where its own has none left",
    )
    leftover: list[Treatment] = Field(
        default_factory=_default_leftover,
        min_length=1,
        description="plan whole: what becomes of a name without a partner, the first that applies: "
        "donor (the name of another document), general (of a term: a general word for what it is), "
        "placeholder ([Person]), recode (its class in entities.recoding), summary (a language "
        "model summarises the chunk without names: releases.summary), drop (the chunk is not "
        "published), keep",
    )
    donors: int = Field(
        16,
        ge=1,
        le=1000,
        description="plan whole: donors drawn for what is left over in a chunk, where the likest "
        "of their names are taken (swapping.matching: similar; terms always): more of them read "
        "better and cost more time",
    )
    fitting: bool = Field(
        True,
        description="plan whole: whether a donor's term comes in only where it reads better than a "
        "placeholder (names of peoples do), and an organisation, building or program only for one "
        "of its sort, and nothing where words stood that read as no name, if general or "
        "placeholder comes next in 'leftover'; false: the nearest one always comes in, which hides "
        "more and reads worse",
    )
    swap: list[str] = Field(
        default_factory=lambda: ["Organization", "Person", "Product", "Location"],
        min_length=1,
        description="categories that may be swapped (S)",
    )
    further: list[Literal["Quantity", "Term"]] = Field(
        default_factory=list,
        description="plan whole: categories that are no names and are exchanged as single layers "
        "after them: Quantity (amounts, percentages, counts, each with its like), Term (words that "
        "set a document apart, with near words of donors, or of a partner where 'leftover' has no "
        "donor); they must be in entities.categories",
    )
    summary: SummaryConfig = Field(default_factory=SummaryConfig)
    sizes: list[int] = Field(
        default_factory=lambda: [2], min_length=1, description="sizes of the combinations J"
    )
    combinations: list[list[str]] | None = Field(
        None, description="exactly these J instead of all of the given sizes"
    )
    must_change: dict[str, str] = Field(
        default_factory=lambda: {"Event": "[Event]"}, description="category (C) -> placeholder"
    )
    shift: list[str] = Field(
        default_factory=list,
        description="categories of dates, e.g. [Date]: in every chunk shifted by a secret number "
        "of days, the same for all chunks of a document, so that order and gaps stay; what is told "
        "relative to now (last year) stays, without its length (the past few years), and so does "
        "the year of a law or a crisis, which would tell the shift; what is not understood becomes "
        "a placeholder",
    )
    shift_days: list[int] = Field(
        default_factory=lambda: [180, 1095],
        min_length=2,
        max_length=2,
        description="least and most days of a shift, forward or back; 1 to 36500; of these only "
        "such that months, quarters and years move, where there are any",
    )
    fixed: list[str] = Field(
        default_factory=lambda: ["Date"],
        description="categories kept (F); by default Date, unless it is shifted, replaced or "
        "exchanged",
    )
    max_swaps: int = Field(30, ge=1, description="longest sequence of swaps for each J")
    draws: int = Field(
        1,
        ge=1,
        description="Monte Carlo draws M that DR and DU are averaged over; by default 10 for plan "
        "pairs and 1 for plan whole, whose risk is measured in one draw",
    )
    constraints: ConstraintsConfig = Field(default_factory=ConstraintsConfig)

    @model_validator(mode="before")
    @classmethod
    def _by_plan_and_shift(cls, data: Any) -> Any:
        """Set defaults that follow from other keys: draws from the plan, fixed from what moves."""
        if not isinstance(data, dict):
            return data
        found = dict(data)
        if "draws" not in data and data.get("plan", cls.model_fields["plan"].default) == "pairs":
            found["draws"] = 10
        moving = [data.get(key) for key in ("shift", "must_change", "swap")]
        # what is neither a list nor a mapping is refused later, in a line
        if "fixed" not in data and any(
            "Date" in names for names in moving if isinstance(names, (list, tuple, dict))
        ):
            found["fixed"] = []
        return found

    @model_validator(mode="after")
    def _units(self) -> ReleasesConfig:
        if self.unit != "chunk" and "summary" in self.leftover:
            raise ValueError(
                "treatment 'summary' is for unit 'chunk', not for documents: take it out of "
                "'leftover' or set unit: chunk"
            )
        return self

    @field_validator("shift_days")
    @classmethod
    def _days(cls, value: list[int]) -> list[int]:
        if not 1 <= value[0] <= value[1] <= 36_500:
            raise ValueError(f"must be two numbers with 1 <= least <= most <= 36500, got {value}")
        return value


class SwappingConfig(Section):
    """How pairs are drawn within a component, and how a swap changes two chunks."""

    policy: Literal["one_to_one", "cover"] = Field(
        "one_to_one", description="what happens when counts differ: surplus stays, or is covered"
    )
    matching: Literal["random", "similar"] = Field(
        "random",
        description="which entity meets which: at random, or those that look most alike; dates "
        "always meet those that are written alike, terms near ones",
    )
    rounds: int = Field(
        1,
        ge=1,
        description="when no valid pair is left, begin again for entities not exchanged before",
    )
    uniques_first: bool = Field(
        False, description="pairs of two sample uniques of z_J first, then of one, then the others"
    )
    cosine_weight: float | None = Field(
        None, ge=0, description="draw pairs in proportion to ((1 + cosine) / 2) to this power"
    )
    throughout: bool = Field(
        False,
        description="plan pairs: a name that was exchanged becomes the same other name in all "
        "chunks of its document that were not swapped, so that the rest of a document does not "
        "tell whose names a swapped chunk shows; DR and DU are those of the swapped chunks",
    )
    mend_articles: bool = Field(True, description="a/an follow the first sound of the new entity")
    sticky: bool = Field(
        False,
        description="give every pair of chunks a clock of its own, so that the swaps of a corpus "
        "that grew are those of before except where a new chunk is in the way; time grows with "
        "the square of a component (10,000 eligible chunks: a second a draw)",
    )
    task_chunks: int = Field(
        1_000_000,
        ge=1000,
        description="eligible chunks of one component that a task holds (about 150 bytes each); of "
        "larger components it loads only as many as the swaps asked for need",
    )
    in_memory_rows: int = Field(
        100_000,
        ge=0,
        description="up to so many chunks times settings times draws, plan 'whole' is drawn on the "
        "driver: the same swaps, without the fixed cost of Spark jobs; 0 for never",
    )


def _default_populations() -> list[float | Literal["comparable"]]:
    return ["comparable"]


class RiskConfig(Section):
    """Ewens-Pitman risk (paper, section 2.4)."""

    population: list[float | Literal["comparable"]] = Field(
        default_factory=_default_populations,
        min_length=1,
        description="sizes N of the population that the corpus is a sample of, at least the number "
        "of chunks n; comparable: the larger of a million and 100 n, comparable chunks in the "
        "world. The choice is made for the first; the report shows the paper's 1e10, 1e20 and 1e30 "
        "beside it, and each size named here has candidates of its own",
    )
    empty_cell: Literal["exclude", "include"] = Field(
        "exclude",
        description="chunks without any name of a combination: left out of its table, as they hold "
        "no combination (structural), or counted as one cell, as the paper's text has it",
    )
    on_failure: Literal["stop", "skip"] = Field(
        "stop",
        description="when a table or a mixture setting cannot be scored (no sample uniques, no "
        "convergence, DU with a denominator that is not positive): stop, or go on without it and "
        "say so",
    )

    @field_validator("population", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return value if isinstance(value, (list, tuple)) else [value]

    @field_validator("population")
    @classmethod
    def _range(cls, value: list[float | str]) -> list[float | str]:
        if not all(isinstance(v, str) or 1 <= v <= 1e30 for v in value):
            raise ValueError(f"every entry must be from 1 to 1e30, or 'comparable', got {value}")
        if len(set(value)) < len(value):
            raise ValueError(f"no entry may be repeated, got {value}")
        return value


class UtilityConfig(Section):
    """Utility beyond the mixture, shown beside DU: never part of it."""

    judge: Literal["contextual", "off"] = Field(
        "contextual",
        description="what measures fidelity: the contextual encoder of the package, whatever "
        "embeds the chunks; off: fidelity is not known and no choice can rest on it",
    )
    judge_texts: int = Field(
        700,
        ge=40,
        description="texts that the judge reads in a run at most (about 90 a second on two cores): "
        "candidates, the chosen release and its anchors, on a stratified sample of the changed "
        "chunks",
    )

    total_variation: bool = Field(
        False, description="distance between the distributions of each category before and after"
    )
    tasks: list[str] = Field(
        default_factory=list,
        description="dotted paths of utility tasks, e.g. nes_spark.utility.sentiment.Sentiment",
    )


class ChoiceConfig(Section):
    """How a release is chosen (paper, section 2.3)."""

    rule: Literal["lowest_risk", "max_utility", "line", "max_rate", "coverage", "candidate"] = (
        Field(
            "lowest_risk",
            description="lowest_risk: the lowest risk with utility of at least min_utility, of "
            "those that tie the one with the lowest DR, then with most swaps; line, max_utility, "
            "max_rate: as in the paper; "
            "coverage: a share of the exchanges of plan whole; candidate: the one with exactly "
            "this combination and number of swaps",
        )
    )
    n_swaps: int | None = Field(None, ge=0, description="number of swaps, rule candidate")
    risk: Literal["measured", "measured_chunks", "DR"] | None = Field(
        None,
        description="what counts as risk: measured, the share of documents that the strongest "
        "attacker names; measured_chunks, the share of chunks with names that the strongest "
        "attacker names who holds all other chunks; or DR, the estimated disclosure risk of the "
        "paper; default: for plan whole measured, with output.publish chunks measured_chunks; DR "
        "for plan pairs",
    )
    utility: Literal["fidelity", "DU"] | None = Field(
        None,
        description="what counts as utility: fidelity, how much of the meaning of the texts a "
        "contextual encoder still finds, or DU of the paper, capped at 1; default: fidelity where "
        "it is measured (utility.judge), else DU",
    )
    min_utility: float | None = Field(
        None, ge=0, le=1, description="smallest utility, rule lowest_risk; default: none"
    )
    coverage: float | None = Field(
        None, gt=0, le=1, description="share of the exchanges of plan whole, rule coverage"
    )
    slope: float = Field(1.0, gt=0, description="a in DR = c + a DU, rule line")
    offset: float = Field(0.0, description="c in DR = c + a DU, rule line")
    max_risk: float | None = Field(None, ge=0, le=1, description="alpha, rule max_utility")
    combination: list[str] | None = Field(
        None, description="J, rules max_rate and candidate; an empty list for no swaps"
    )
    unit: Literal["chunk", "document"] | None = Field(
        None,
        description="releases.unit both: only candidates of this unit, and the release without "
        "swaps; default: all",
    )
    setting: str | None = Field(None, description="mixture setting; default: the first of the grid")
    population: float | Literal["comparable"] | None = Field(
        None, description="N; default: the first of the list"
    )
    per_draw: bool = Field(
        False,
        description="decide on the seed too: every draw is a candidate of its own, not the average",
    )
    resamples: int = Field(
        200,
        ge=0,
        description="resamples of draws and documents that tell how often the same release would "
        "be chosen",
    )

    @model_validator(mode="after")
    def _rule(self) -> ChoiceConfig:
        if self.rule == "max_utility" and self.max_risk is None:
            raise ValueError("rule 'max_utility' needs 'max_risk', a number from 0 to 1")
        if self.rule == "max_rate" and not self.combination:
            raise ValueError("rule 'max_rate' needs 'combination', a list of categories")
        if self.rule == "candidate" and (self.combination is None or self.n_swaps is None):
            raise ValueError("rule 'candidate' needs 'combination' and 'n_swaps'")
        if self.rule == "coverage" and self.coverage is None:
            raise ValueError("rule 'coverage' needs 'coverage', a share above 0 and at most 1")
        return self

    @model_serializer(mode="wrap")
    def _without_what_is_not_asked(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave the unit out where none is asked for: digests stay those of before it was there."""
        found: dict[str, Any] = write(self)
        return {k: v for k, v in found.items() if k != "unit" or v is not None}


class GatesConfig(Section):
    """What must hold before a release is published."""

    accept_identifiers: list[str] = Field(
        default_factory=lambda: ["other_document", "swapped_in"],
        description="kinds or rules of identifiers whose remaining occurrences do not refuse; "
        "'other_document' are names that belong to another document of the corpus, for example "
        "a competitor that is spoken of; 'swapped_in' are parts of names that a stranger from "
        "another document shares with a person of this one, and what reads as a number or an "
        "address only with the text that a swap put beside it",
    )
    max_linkage_accuracy: float | None = Field(
        None, ge=0, le=1, description="bound on the linkage adversary's accuracy after swapping"
    )
    max_documents_named: float | None = Field(
        None,
        ge=0,
        le=1,
        description="bound on the share of documents that the strongest attacker names in the "
        "release; what was not measured is refused",
    )
    max_chunks_named: float | None = Field(
        None,
        ge=0,
        le=1,
        description="the same bound for chunks with names, named by who holds all other chunks of "
        "every source: what counts where output.publish is chunks",
    )
    min_swaps: int = Field(1, ge=0, description="a release with fewer swaps is refused")
    require: list[str] = Field(
        default_factory=list,
        description="kinds of direct identifiers that every document must have something to search "
        "for; a document that has nothing is quarantined",
    )
    on_poor_fit: Literal["warn", "refuse"] | None = Field(
        None,
        description="what happens about a risk fit that its own goodness of fit rejects, and about "
        "a mixture with components that closed on single points; default: a risk fit is refused "
        "where the choice rests on DR, and all else is a warning",
    )


class SeedConfig(Section):
    """Where the secret seed comes from; it is never in the configuration itself."""

    env: str = Field("NES_SPARK_SEED", description="environment variable with the seed")
    file: str | None = Field(None, description="file with the seed; default sealed/seed")


class LedgerConfig(Section):
    """The sealed ledger of swaps."""

    encrypt: bool = Field(False, description="encrypt the ledger (AES-256-GCM)")
    keep_originals: bool = Field(
        False,
        description="keep the texts of chunks that were dropped or summarised, so that the ledger "
        "gives them back too",
    )
    key_env: str = Field(
        "NES_SPARK_LEDGER_KEY",
        description="environment variable with the key: 32 bytes in base64 or hexadecimal",
    )


class LanguageModelConfig(Section):
    """One language model of the audit, behind any OpenAI-compatible endpoint."""

    name: str = Field(min_length=1, description="shown in the report; one per model")
    model: str = Field(min_length=1, description="model id that the endpoint expects")
    base_url: str | None = Field(None, description="endpoint; default: OpenAI's")
    api_key_env: str | None = Field(
        "OPENAI_API_KEY", description="environment variable with the key; null for a keyless server"
    )
    temperature: float = Field(0.0, ge=0, description="0 for the likeliest answer")
    seed: int | None = Field(None, description="seed of the endpoint, where it takes one")
    max_tokens: int = Field(16, ge=1, description="longest answer, in tokens")
    token_limit: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="how the endpoint calls that limit"
    )
    extra: dict[str, Any] = Field(
        default_factory=dict, description="further request parameters, e.g. {top_p: 0.95}"
    )
    served_as: list[str] = Field(
        default_factory=list,
        description="other names under which the endpoint may answer; an answer by a model of "
        "another name is thrown away and asked again",
    )
    price_in: float | None = Field(
        None, ge=0, description="price per million input tokens; 0 for a server of your own"
    )
    price_out: float | None = Field(None, ge=0, description="price per million output tokens")
    requests_per_minute: float | None = Field(None, gt=0, description="over all partitions")
    tokens_per_minute: float | None = Field(None, gt=0, description="over all partitions")
    batch: bool = Field(False, description="use the provider's batch interface")
    batch_discount: float = Field(0.5, ge=0, le=1, description="price of a batch over the normal")

    @property
    def priced(self) -> bool:
        """Whether both prices are given."""
        return self.price_in is not None and self.price_out is not None

    @field_validator("extra")
    @classmethod
    def _no_clash(cls, value: dict[str, Any]) -> dict[str, Any]:
        own = {"model", "messages", "temperature", "seed", "max_tokens", "stream", "n"}
        clash = sorted(own & set(value))
        if clash:
            raise ValueError(
                f"{clash} cannot be set here; they have keys of their own or are fixed"
            )
        return value


#: What language models are asked where audit.answer is 'period' and no prompt is given.
PERIOD_PROMPT = (
    "You are tasked to guess when the following earnings call was held, using the content of the "
    "text. Reply ONLY with the quarter that it reports on, such as 2020Q3. DO NOT output anything "
    "other than that.\n\n{text}"
)


class AuditConfig(Section):
    """Adversaries (paper, section 3.2.2)."""

    recognition: bool = Field(
        True,
        description="recognise the swapped chunks again and count where the table after swapping "
        "says something else",
    )

    linkage: bool = Field(True, description="adversary without a network; part of every run")
    text: bool = Field(True, description="text attackers (TF-IDF, nearest centroid) with it")
    swap_aware: bool = Field(True, description="adversary who knows method and rate, not the seed")
    swap_aware_draws: int = Field(5, ge=1, description="draws that it is tried on at most")
    swap_aware_max_chunks: int = Field(
        20_000, ge=2, description="a larger component is attacked on a sample of its chunks"
    )
    frontier: bool = Field(False, description="let the linkage adversary score every candidate")
    documents: bool = Field(
        True,
        description="measure how many documents can be named by who holds half of every original "
        "and is asked about the other half as released",
    )
    max_documents: int = Field(
        3000,
        ge=2,
        description="of more documents a sample is attacked, on Spark, by linkage, words and style "
        "alone; up to here the texts are read by the driver, and all attackers try",
    )
    max_words: int = Field(
        1_000_000,
        ge=1,
        description="the same bound in words of all texts: the driver needs some 3 GB for so "
        "many, the judge beside it; it does not count where background or public_words are given, "
        "which only the driver can use",
    )
    candidates: bool = Field(
        True,
        description="plan 'whole': measure every candidate too, in one draw; of more than 500 "
        "documents or 2,000 chunks on a sample of 500 documents and 1,000 chunks with names",
    )
    background: str | None = Field(
        None,
        description="table (.csv, .jsonl or .parquet) with columns metadata and text: what an "
        "attacker holds about each candidate, for example last quarter's calls; it is then asked "
        "about whole documents as released",
    )
    public_words: str | None = Field(
        None,
        description="table (.csv, .jsonl or .parquet) with columns metadata and words: a few words "
        "and phrases, divided by semicolons, that everybody may know of each candidate (products, "
        "places, what it sells); which released document do they point to?",
    )
    max_chunks: int = Field(
        5000,
        ge=1,
        description="of more chunks with names, or of more changed ones, a sample is attacked and "
        "recognised again, drawn by keyed hash; all candidates are compared",
    )
    reference: str | None = Field(
        None,
        description="folder with tables cells, chunks and mentions (Parquet) of an earlier period "
        "or a reference corpus; default: the other chunks of the corpus itself",
    )
    smoothing: float = Field(
        0.2, gt=0, lt=1, description="weight of the corpus against a document's own frequencies"
    )
    pair_weight: float = Field(
        0.5, ge=0, description="weight of pairs of entities against single ones; 0: singles only"
    )
    max_candidates_per_entity: int = Field(
        1000, ge=2, description="an entity known to more candidates than this is no evidence"
    )
    context_weight: float = Field(
        1.0, ge=0, description="swap-aware: weight of the entities that were not swapped"
    )
    gate_models: list[str] = Field(
        default_factory=lambda: ["linkage"],
        description="adversaries and language models that gates.max_linkage_accuracy binds; for a "
        "language model the release waits until 'nes-spark audit' has asked it",
    )
    min_chunks: int = Field(25, ge=1, description="warn about draws with fewer swapped chunks")
    bootstrap: int = Field(
        2000,
        ge=100,
        description="resamples of the interval of the drop where no swaps couple documents",
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="level of intervals")
    models: list[LanguageModelConfig] = Field(default_factory=list)
    prompt: str = Field(
        "You are tasked to guess the company name of the following earnings call transcript using "
        "the content of the text. Reply ONLY with the ticker symbol (in Capital Letters) of your "
        "best guess. DO NOT output anything other than that.\n\n{text}",
        description="'{text}' stands for the chunk",
    )
    labels: dict[str, list[str]] = Field(
        default_factory=dict, description="metadata -> accepted spellings (tickers, names)"
    )
    answer: Literal["ticker", "name", "label", "period"] = Field(
        "ticker",
        description="what the prompt asks for: a ticker symbol, a name, one label of a list, or "
        "the period alone: a model that can date a text can remember what came after it",
    )
    about: Literal["swapped", "chunks", "documents"] = Field(
        "swapped",
        description="what language models are asked about: swapped chunks (the paper), all "
        "released chunks, or whole documents; the last two of the published draw alone",
    )
    clues: bool = Field(
        False,
        description="whether a model that names a released chunk is asked which words told it: "
        "sealed/clues.csv of the run, for entities.clues; one more question for each such chunk",
    )
    clue_prompt: str = Field(
        "Below is an excerpt of an earnings call. You recognised it as one of {answer}. Which "
        "words of the excerpt tell a reader who knows companies well whose it is: trade words, "
        "phrases, slogans, programmes, segments, events, figures? Copy all of them letter by "
        "letter, one a line, strongest first, each as short as possible without losing what it "
        "tells. With all of them blanked out nobody may be able to name the company from what is "
        "left. Leave out what any company could have said, and what stands in square brackets. "
        "Reply with these lines ONLY, or NONE.\n\n{text}",
        description="'{text}' stands for the chunk as released, '{answer}' for its metadata",
    )
    clue_tokens: int = Field(
        600,
        ge=16,
        le=8192,
        description="longest answer to it, in tokens, where the model's max_tokens is not more; "
        "whole lines count",
    )
    sample: int | None = Field(
        None,
        ge=1,
        description="so many of them at most, drawn by keyed hash, chunks in proportion to the "
        "chunks of each document",
    )
    draws: int = Field(30, ge=1, description="draws of the chosen release that are asked about")
    budget: float | None = Field(
        None, ge=0, description="most that the audit may cost, with what is already paid for"
    )
    currency: str = Field("USD", pattern=r"^[A-Z]{3}$", description="of prices and budget")
    max_in_flight: int = Field(8, ge=1, description="requests in flight, over all partitions")
    partitions: int = Field(
        2, ge=1, description="tasks that ask at the same time; each gets its share of the rates"
    )
    timeout: float = Field(60.0, gt=0, description="seconds a request may take")
    max_retries: int = Field(8, ge=0, description="further attempts for a question")
    backoff: float = Field(1.0, gt=0, description="seconds before the first further attempt")
    max_backoff: float = Field(60.0, gt=0, description="longest wait without a Retry-After")
    max_retry_after: float = Field(
        600.0, gt=0, description="a longer Retry-After ends the attempt; resume later"
    )
    characters_per_token: float = Field(
        3.0, gt=0, description="for the estimate before the start; low is careful"
    )
    answers: str | None = Field(
        None,
        description="folder of the answer store, on a file system that all workers share; default: "
        "<output>/<period>/sealed/answers",
    )
    batch_size: int = Field(20_000, ge=1, le=50_000, description="requests in one batch")
    batch_poll: float = Field(60.0, gt=0, description="seconds between looks at a batch")

    @model_validator(mode="before")
    @classmethod
    def _by_answer(cls, data: Any) -> Any:
        """Ask for the period where that is the answer, unless a prompt is given."""
        if isinstance(data, dict) and data.get("answer") == "period" and "prompt" not in data:
            return data | {"prompt": PERIOD_PROMPT}
        return data

    @field_validator("prompt", "clue_prompt")
    @classmethod
    def _slot(cls, value: str) -> str:
        if "{text}" not in value:
            raise ValueError("must contain '{text}', where the chunk is put")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> AuditConfig:
        names = [m.name for m in self.models]
        if len(set(names)) < len(names):
            raise ValueError(f"models: every name must be its own and not {names}")
        unpriced = [m.name for m in self.models if not m.priced]
        if self.budget is not None and unpriced:
            raise ValueError(
                f"budget: nothing keeps to it while {unpriced} have no price_in and price_out (per "
                "million tokens; 0 for a server of your own)"
            )
        if self.clues and (self.about == "documents" or self.answer == "period"):
            raise ValueError(
                "clues: words of a chunk tell whose it is; take about: chunks, and not answer: "
                "period"
            )
        if self.partitions > self.max_in_flight:
            raise ValueError(
                f"partitions ({self.partitions}) must not be more than max_in_flight "
                f"({self.max_in_flight}): each partition keeps at least one request in flight"
            )
        return self


class TrackingConfig(Section):
    """MLflow."""

    enabled: bool = Field(True, description="record every run")
    uri: str | None = Field(
        None, description="default: MLFLOW_TRACKING_URI, else a SQLite store beside the output"
    )
    experiment: str = Field("nes_spark", description="created when it is not there")
    register_model: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="register the mixture of every recorded run as a version of the model of this "
        "name",
    )


class ReportConfig(Section):
    """The HTML report."""

    examples: bool = Field(
        False,
        description="write a second page with entities and chunks, sealed/report.html; the report "
        "itself never holds any",
    )
    options: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="name -> settings below 'swapping' or 'releases.constraints'; each is tried on "
        "the chosen combination beside the run's own settings, e.g. {two rounds: "
        "{swapping.rounds: 2}}",
    )
    linking: bool = Field(
        False,
        description="count sample uniques without and with linking and corpus consistency",
    )
    option_swaps: int = Field(
        200, ge=1, description="longest sequence that is tried for each of the options"
    )
    option_draws: int = Field(5, ge=1, description="draws for each of the options")


class SparkConfig(Section):
    """The Spark session, for those who do not bring their own with spark-submit."""

    master: str | None = Field(None, description="default: what spark-submit gives, else local[*]")
    remote: str | None = Field(
        None, description="Spark Connect server, e.g. sc://host:15002; default: SPARK_REMOTE"
    )
    shuffle_partitions: int | None = Field(None, ge=1, description="default: that of Spark")
    driver_memory: str = Field("2g", description="heap of a local session's Java, e.g. 2g, 512m")
    settings: dict[str, str] = Field(default_factory=dict, description="any spark.* setting")

    @field_validator("driver_memory")
    @classmethod
    def _memory(cls, value: str) -> str:
        found = re.fullmatch(r"(\d{1,12})([kmgt])b?", value.strip().casefold())
        size = int(found.group(1)) << (10 * ("kmgt".index(found.group(2)) + 1)) if found else 0
        if not 512 << 20 <= size <= 16 << 40:
            raise ValueError(f"must be a size from 512m to 16t, such as 2g; got {value[:40]!r}")
        return value

    @model_validator(mode="after")
    def _one_way(self) -> SparkConfig:
        if self.remote is not None and not self.remote.startswith("sc://"):
            raise ValueError(f"'remote' must begin with sc://, got {self.remote!r}")
        if self.remote is not None and self.master is not None:
            raise ValueError("give 'master' or 'remote' (Spark Connect), not both")
        return self


class OutputConfig(Section):
    """Where tables, the release, the report and the ledger go."""

    directory: str = Field("out", description="a run goes to DIRECTORY/PERIOD; --output sets it")
    publish: Literal["documents", "chunks"] = Field(
        "documents",
        description="documents: the chunks of a document are released together and in order; "
        "chunks: each by itself, under a name and in an order that a secret decides, so that "
        "nobody but the ledger's owner is told which chunks are of one document",
    )
    withhold: str | None = Field(
        None,
        min_length=1,
        description="table of chunks that are not published: a .csv, .jsonl or .parquet file with "
        "a column chunk_id and, where it has them, digest (SHA-256 of the chunk's text, so that no "
        "list for other texts is taken for one of these) and instead ('brief' or 'nothing', for a "
        "chunk that a summary does not hide; see output.instead). 'nes-spark audit' writes one of "
        "the chunks that a model named, sealed/named.csv; a run that is refused because an "
        "identifier or a word of an exchanged name is left writes one of the chunks that hold it, "
        "sealed/leaking.csv",
    )
    instead: Literal["nothing", "summary"] = Field(
        "nothing",
        description="what is published of a chunk that output.withhold lists: nothing, or what a "
        "language model makes of its released text (releases.summary). A summary that holds a name "
        "of the chunk is refused, and the chunk left out; terms in it become [Term]. Where the "
        "list says 'brief' the summary is summarised again, in a quarter of the words",
    )
    reuse: str | None = Field(
        "previous",
        min_length=1,
        description="run folder from which the chunks of documents, and the names and vectors of "
        "chunks, are taken that did not change, or 'previous': the tables that this run replaces, "
        "then those of the last period before this one under output.directory. Only what today's "
        "code and settings would give is taken; null: all is made anew",
    )
    release_format: str | None = Field(
        None,
        description="write the published release as tables too, beside its files: delta, "
        "spark:NAME, or table:CATALOG.SCHEMA.NAME with {table} in the name",
    )
    release_path: str | None = Field(
        None,
        description="release_format delta and spark:NAME: folder of the tables; {table} stands for "
        "chunks and documents (added at the end when it is not there), {period} for the period",
    )
    release_options: dict[str, str] = Field(
        default_factory=dict,
        description="release_format spark:NAME and table:NAME: options of the writer, with "
        "{table}, {period} and env:VARIABLE; 'provider' is what makes a new table, e.g. iceberg",
    )

    @field_validator("release_format")
    @classmethod
    def _known_format(cls, value: str | None) -> str | None:
        if value is not None:
            plain = value.replace("{table}", "t").replace("{period}", "p")
            if plain.startswith(SOURCE) and plain != value:
                raise ValueError("{table} and {period} go into release_path")
            _check_source(plain, ())
        return value

    @model_validator(mode="after")
    def _one_place_a_table(self) -> OutputConfig:
        form, path = self.release_format, self.release_path
        if form is None:
            if path is not None or self.release_options:
                raise ValueError("'release_path' and 'release_options' go with 'release_format'")
        elif form.startswith(TABLE):
            if path is not None:
                raise ValueError("'release_path' does not go with release_format table:NAME")
            if "{table}" not in form:
                raise ValueError(
                    "'release_format' must hold {table}, for chunks and documents: "
                    "table:lake.texts.calls_{table}"
                )
        elif form == "delta":
            if path is None:
                raise ValueError("release_format delta needs 'release_path'")
            if self.release_options:
                raise ValueError("'release_options' do not go with release_format delta")
        elif path is None and not any("{table}" in v for v in self.release_options.values()):
            raise ValueError(
                "release_format spark:NAME needs 'release_path', or an option that holds {table}"
            )
        return self


def _given(section: Any, key: str, default: Any) -> Any:
    """Return what a section says, be it read already or not; None of what is no section."""
    if isinstance(section, Section):
        return getattr(section, key)
    return section.get(key, default) if isinstance(section, dict) else None


def _with(section: Any, key: str, value: Any) -> Any:
    """Return a section with another value."""
    if isinstance(section, Section):
        return section.model_copy(update={key: value})
    return {**section, key: value}


class Config(Section):
    """A whole run."""

    name: str = Field("nes_spark", description="shown in the report and in MLflow")
    period: str | None = Field(None, description="only documents of this period; --period sets it")
    input: InputConfig = Field(default_factory=InputConfig)
    presentation: PresentationConfig = Field(default_factory=PresentationConfig)
    identifiers: IdentifiersConfig = Field(default_factory=IdentifiersConfig)
    chunking: ChunkingConfig = Field(default_factory=ChunkingConfig)
    entities: EntitiesConfig = Field(default_factory=EntitiesConfig)
    embedding: EmbeddingConfig = Field(default_factory=EmbeddingConfig)
    mixture: MixtureConfig = Field(default_factory=MixtureConfig)
    releases: ReleasesConfig = Field(default_factory=ReleasesConfig)
    swapping: SwappingConfig = Field(default_factory=SwappingConfig)
    risk: RiskConfig = Field(default_factory=RiskConfig)
    utility: UtilityConfig = Field(default_factory=UtilityConfig)
    choice: ChoiceConfig = Field(default_factory=ChoiceConfig)
    gates: GatesConfig = Field(default_factory=GatesConfig)
    seed: SeedConfig = Field(default_factory=SeedConfig)
    ledger: LedgerConfig = Field(default_factory=LedgerConfig)
    audit: AuditConfig = Field(default_factory=AuditConfig)
    tracking: TrackingConfig = Field(default_factory=TrackingConfig)
    report: ReportConfig = Field(default_factory=ReportConfig)
    spark: SparkConfig = Field(default_factory=SparkConfig)
    output: OutputConfig = Field(default_factory=OutputConfig)

    _changed: tuple[str, ...] = PrivateAttr(default=())

    @property
    def changed(self) -> tuple[str, ...]:
        """Keys that were set when the file was loaded (``--set``), not where input and output lie.

        It names runs, and says nothing about what they do: it is no part of a fingerprint.
        """
        return self._changed

    @model_validator(mode="before")
    @classmethod
    def _told(cls, data: Any) -> Any:
        """Replace clues and telling words where there are any, without a further key."""
        if not isinstance(data, dict):
            return data
        entities = data.get("entities")
        releases = data.get("releases") or {}
        if not _given(entities, "clues", None) and not _given(entities, "telling", 0):
            return data
        found = dict(data)
        categories = _given(entities, "categories", DEFAULT_CATEGORIES)
        if isinstance(categories, (list, tuple)) and _CLUE not in categories:
            found["entities"] = _with(entities, "categories", [*categories, _CLUE])
        default = ReleasesConfig.model_fields["must_change"]
        change = _given(releases, "must_change", default.get_default(call_default_factory=True))
        if isinstance(change, dict) and _CLUE not in change:
            found["releases"] = _with(releases, "must_change", {**change, _CLUE: _SHOWN_AS})
        return found

    @model_validator(mode="after")
    def _categories(self) -> Config:
        known = self.entities.categories
        releases = self.releases
        for category in releases.swap:
            _known_category("releases.swap", category, known)
        for combination in releases.combinations or []:
            for category in combination:
                _known_category("releases.combinations", category, known)
        for category in [
            *releases.must_change,
            *releases.fixed,
            *releases.shift,
            *releases.further,
        ]:
            _known_category("releases", category, known)
        swapped = set(releases.swap)
        if releases.combinations is not None:
            swapped = {c for combination in releases.combinations for c in combination}
        groups: tuple[tuple[str, Collection[str]], ...] = (
            ("must_change", releases.must_change),
            ("shift", releases.shift),
            ("further", list(releases.further)),
            ("fixed", releases.fixed),
        )
        for name, group in groups:
            clash = sorted(swapped & set(group))
            if clash:
                raise ValueError(f"releases: {clash} cannot be swapped and in '{name}' at once")
        for (name, group), (other, rest) in combinations(groups, 2):
            clash = sorted(set(group) & set(rest))
            if clash:
                raise ValueError(f"releases: {clash} cannot be in '{name}' and '{other}' at once")
        if releases.combinations is None and max(releases.sizes) > len(releases.swap):
            raise ValueError(
                f"releases.sizes: {max(releases.sizes)} is more than the {len(releases.swap)} "
                "categories in releases.swap"
            )
        if min(releases.sizes) < 1:
            raise ValueError(
                f"releases.sizes: every entry must be at least 1, got {releases.sizes}"
            )
        for category in self.choice.combination or []:
            _known_category("choice.combination", category, known)
        return self

    @model_validator(mode="after")
    def _throughout(self) -> Config:
        if self.swapping.throughout and self.releases.plan != "pairs":
            raise ValueError(
                "swapping.throughout is for releases.plan pairs; plan whole leaves no name that it "
                "can exchange in any chunk"
            )
        return self

    @model_validator(mode="after")
    def _summaries(self) -> Config:
        if self.output.instead == "summary" and self.output.withhold is None:
            raise ValueError(
                "output.instead: summary is for the chunks that output.withhold lists; name a list "
                "there, as 'nes-spark audit' writes it"
            )
        if self.summarises:
            self.summary_audit()
        return self

    @property
    def summarises(self) -> bool:
        """Whether a language model is asked for summaries."""
        treated = "summary" in self.releases.leftover and self.releases.plan == "whole"
        return treated or self.output.instead == "summary"

    def summary_audit(self, brief: bool = False) -> AuditConfig:
        """Return section ``audit`` as summaries are asked for: one model, their prompt and length.

        Parameters
        ----------
        brief : bool, optional
            For a quarter of the words.

        Raises
        ------
        ValueError
            When there is no such model.
        """
        summary = self.releases.summary
        names = [model.name for model in self.audit.models]
        name = summary.model or next(iter(names), None)
        if name not in names:
            raise ValueError(
                f"releases.summary.model: {name!r} is not in audit.models; there are {names}. "
                "Summaries (releases.leftover, output.instead) need a language model"
            )
        (model,) = (m for m in self.audit.models if m.name == name)
        model = model.model_copy(update={"max_tokens": summary.max_tokens, "batch": False})
        words = max(8, summary.max_tokens // 8) if brief else summary.max_tokens // 2
        prompt = summary.prompt.replace("{words}", str(words))
        return self.audit.model_copy(update={"models": [model], "prompt": prompt})

    @model_validator(mode="after")
    def _options(self) -> Config:
        for name, settings in self.report.options.items():
            try:
                self.with_option(settings)
            except ValueError as error:
                raise ValueError(f"report.options: {name!r}: {error}") from None
        return self

    def with_option(self, settings: Mapping[str, Any]) -> tuple[ReleasesConfig, SwappingConfig]:
        """Return the sections ``releases`` and ``swapping`` with some settings changed.

        Parameters
        ----------
        settings : mapping
            Keys such as ``swapping.rounds`` or ``releases.constraints.min_cosine`` -> value.

        Returns
        -------
        tuple of (ReleasesConfig, SwappingConfig)

        Raises
        ------
        ValueError
            When a key lies elsewhere or a value is not allowed.
        """
        content: dict[str, Any] = {
            "releases": self.releases.model_dump(),
            "swapping": self.swapping.model_dump(),
        }
        for key, value in settings.items():
            if not key.startswith(("swapping.", "releases.constraints.")):
                raise ValueError(
                    f"{key} cannot be compared; keys start with 'swapping.' or "
                    "'releases.constraints.'"
                )
            set_dotted(content, key, value)
        try:
            section = "releases"
            releases = ReleasesConfig.model_validate(content[section])
            section = "swapping"
            return releases, SwappingConfig.model_validate(content[section])
        except ValidationError as error:
            faults = [{**e, "loc": (section, *e["loc"])} for e in error.errors()]
            raise ValueError("; ".join(describe_fault(Config, e) for e in faults)) from None

    def fingerprint(self, *sections: str) -> str:
        """Return a SHA-256 over the named sections (all when none is named), in canonical JSON.

        Parameters
        ----------
        *sections : str
            Names of top-level sections, for example ``"chunking"``.

        Returns
        -------
        str
            64 hexadecimal digits. Equal configurations have equal fingerprints, whatever the order
            of keys in the file.
        """
        content = self.model_dump(mode="json", include=set(sections) if sections else None)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _check_pattern(where: str, pattern: str) -> None:
    try:
        check_pattern(pattern, where)
    except ConfigError as error:
        raise ValueError(str(error)) from None


def _known_category(where: str, category: str, known: list[str]) -> None:
    if category not in known:
        raise ValueError(
            f"{where}: unknown category {category!r}; the categories are {known} "
            "(entities.categories; Quantity and Term are found where they are among them)"
        )
