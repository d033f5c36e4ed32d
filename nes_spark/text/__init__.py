"""Reading, presentation part, sentences, semantic chunks, direct identifiers (paper, section 3.1).

Importing this package does not import Spark; its Spark functions are in
:mod:`nes_spark.text.stages`.
"""

from nes_spark.text.chunking import chunk_spans, chunk_text
from nes_spark.text.presentation import Presentation, Turn, find_presentation, split_turns
from nes_spark.text.sentences import split_sentences

__all__ = [
    "Presentation",
    "Turn",
    "chunk_spans",
    "chunk_text",
    "find_presentation",
    "split_sentences",
    "split_turns",
]
