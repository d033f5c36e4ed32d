"""nes_spark: anonymize a corpus of texts by named entity swapping."""

__version__ = "0.1.0"
