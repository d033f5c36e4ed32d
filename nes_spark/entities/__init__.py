"""Named entities: recognisers, canonical names, cells of the entity table."""

from nes_spark.entities.cells import cell_of, cell_value
from nes_spark.entities.mentions import Mention, is_placeholder
from nes_spark.entities.recognizers import Recognizer, load_recognizer

__all__ = ["Mention", "Recognizer", "cell_of", "cell_value", "is_placeholder", "load_recognizer"]
