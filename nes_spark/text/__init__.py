"""Reading, presentation part, sentences, semantic chunks, direct identifiers (paper, section 3.1).

Importing this package does not import Spark; its Spark functions are in
the modules whose names end in ``_stages``.
"""

from typing import TYPE_CHECKING

from nes_spark.lazy import lazily

if TYPE_CHECKING:
    from nes_spark.text.chunking import chunk_spans, chunk_text
    from nes_spark.text.identifiers import find_identifiers, known_identifiers, suppress
    from nes_spark.text.kinds import check_kinds, undeclared_kinds
    from nes_spark.text.matching import Identifier, Match, Matcher
    from nes_spark.text.presentation import Presentation, Turn, find_presentation, split_turns
    from nes_spark.text.sentences import split_sentences

__all__ = [
    "Identifier",
    "Match",
    "Matcher",
    "Presentation",
    "Turn",
    "check_kinds",
    "chunk_spans",
    "chunk_text",
    "find_identifiers",
    "find_presentation",
    "known_identifiers",
    "split_sentences",
    "split_turns",
    "suppress",
    "undeclared_kinds",
]

__getattr__ = lazily(
    __name__,
    {
        "chunking": ("chunk_spans", "chunk_text"),
        "identifiers": ("find_identifiers", "known_identifiers", "suppress"),
        "kinds": ("check_kinds", "undeclared_kinds"),
        "matching": ("Identifier", "Match", "Matcher"),
        "presentation": ("Presentation", "Turn", "find_presentation", "split_turns"),
        "sentences": ("split_sentences",),
    },
)
