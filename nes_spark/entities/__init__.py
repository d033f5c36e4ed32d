"""Named entities: recognisers, canonical names, cells of the entity table."""

from typing import TYPE_CHECKING

from nes_spark.lazy import lazily

if TYPE_CHECKING:
    from nes_spark.entities.cells import cell_of, cell_value
    from nes_spark.entities.mentions import Mention, is_placeholder
    from nes_spark.entities.recognizers import Recognizer, load_recognizer

__all__ = ["Mention", "Recognizer", "cell_of", "cell_value", "is_placeholder", "load_recognizer"]

__getattr__ = lazily(
    __name__,
    {
        "cells": ("cell_of", "cell_value"),
        "mentions": ("Mention", "is_placeholder"),
        "recognizers": ("Recognizer", "load_recognizer"),
    },
)
