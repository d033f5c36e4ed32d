"""Record where LlamaIndex's SemanticSplitterNodeParser breaks, as numbers.

Run with ``llama-index-core`` installed: ``python -m tests.text.record_llamaindex``. It writes
``tests/text/data/llamaindex.json``: for each text a hash of its sentence boundaries and the indices
of the sentences after which a chunk ends. No text is recorded. Again needed only when the sentence
splitter changes.
"""

from __future__ import annotations

import json
from pathlib import Path

from nes_spark.text.sentences import split_sentences
from tests.text.hashing import embed, fingerprint, real_texts, synthetic_texts

TARGET = Path(__file__).parent / "data" / "llamaindex.json"
SETTINGS = [(50, 1), (75, 1), (95, 1), (75, 0), (75, 2)]


def main() -> None:
    import llama_index.core
    from llama_index.core import Document
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.node_parser import SemanticSplitterNodeParser

    class Hashed(BaseEmbedding):
        def _get_text_embedding(self, text):
            return embed([text])[0].tolist()

        def _get_query_embedding(self, query):
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query):
            return self._get_text_embedding(query)

    texts = {**synthetic_texts(), **real_texts()}
    recorded = {}
    for name, text in texts.items():
        spans = split_sentences(text)
        ends = {end: i for i, (_, end) in enumerate(spans)}
        breaks = {}
        for threshold, buffer in SETTINGS:
            parser = SemanticSplitterNodeParser(
                embed_model=Hashed(),
                breakpoint_percentile_threshold=threshold,
                buffer_size=buffer,
                sentence_splitter=lambda t: [t[a:b] for a, b in split_sentences(t)],
            )
            at, found = 0, []
            for node in parser.build_semantic_nodes_from_documents([Document(text=text)])[:-1]:
                at += len(node.text)
                found.append(ends[at])
            breaks[f"{threshold}/{buffer}"] = found
        recorded[name] = {"sentences": fingerprint(spans), "breaks": breaks}
    content = {"llama_index_core": llama_index.core.__version__, "texts": recorded}
    TARGET.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{len(recorded)} texts recorded")


if __name__ == "__main__":
    main()
