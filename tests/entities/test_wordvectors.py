import numpy as np

from nes_spark.building.recognizer import EMBEDDER
from nes_spark.entities.names import BUCKETS, CLASSES, NameClassifier
from nes_spark.entities.wordvectors import WordVectors, from_embedder

PIECES = ["flow", "##er", "pot", "a", "'"]
TABLE = np.array([[4, 0], [0, 2], [0, 8], [1, 1], [0, 0]], dtype=np.int8)


def test_words_are_cut_into_the_longest_pieces():
    vectors = WordVectors(PIECES, TABLE, 0.5)
    assert vectors.split("Flower") == [0, 1]
    assert vectors.split("Flöw-Pot") == [0, 2]
    assert vectors.split("Qux") == []


def test_mean_of_pieces_then_of_words():
    vectors = WordVectors(PIECES, TABLE, 0.5)
    assert vectors.mean(["Flower"]).tolist() == [1.0, 0.5]
    assert vectors.mean(["Flower", "pot"]).tolist() == [0.5, 2.25]
    assert vectors.mean([]).tolist() == [0.0, 0.0]


def test_vectors_survive_the_disk(tmp_path):
    vectors = WordVectors(PIECES, TABLE, 0.5)
    vectors.to_disk(tmp_path)
    again = WordVectors.from_disk(tmp_path)
    assert again.pieces == PIECES and again.scale == 0.5 and (again.table == TABLE).all()


def test_projection_moves_the_classifier():
    vectors = WordVectors(PIECES, TABLE, 0.5)
    weights = np.zeros((BUCKETS, len(CLASSES)))
    projection = np.zeros((2, len(CLASSES)))
    projection[1, CLASSES.index("PRODUCT")] = 3.0
    classifier = NameClassifier(weights, vectors, projection)
    assert CLASSES[int(classifier.log_probabilities([], ["pot"]).argmax())] == "PRODUCT"
    assert np.allclose(classifier.log_probabilities([], ["Qux"]), -np.log(len(CLASSES)))


def test_pieces_are_those_of_the_bundled_tokenizer():
    from tokenizers import Tokenizer

    vectors = from_embedder(EMBEDDER, dimension=4)
    tokenizer = Tokenizer.from_file(str(EMBEDDER / "tokenizer.json"))
    for word in ("Photoshop", "MicroStrategy", "Zolgensma", "AT&T", "Itaú", "U.S."):
        assert vectors.split(word) == tokenizer.encode(word, add_special_tokens=False).ids, word
