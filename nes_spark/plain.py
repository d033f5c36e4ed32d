"""Values as JSON knows them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any, missing: bool = False) -> Any:
    """Turn mappings, rows, sequences and NumPy scalars into what JSON knows.

    Parameters
    ----------
    value : object
        Mappings, Spark rows, lists, tuples, arrays and scalars, one inside the other.
    missing : bool, optional
        Whether a float that is not finite becomes None; JSON has no word for it.

    Examples
    --------
    >>> plain({1: (2, float("nan"))}, missing=True)
    {'1': [2, None]}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(part, missing) for name, part in value.items()}
    if hasattr(value, "asDict"):
        return plain(value.asDict(recursive=True), missing)
    if isinstance(value, (list, tuple)):
        return [plain(part, missing) for part in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return plain(value.tolist(), missing)
    if missing and isinstance(value, float) and not math.isfinite(value):
        return None
    return value
