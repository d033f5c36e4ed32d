"""The version of the package, and digests of its code: what an output was made with."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

__version__ = "0.1.0"

ROOT = Path(__file__).parent


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the package version and a digest of its source and bundled models."""
    digest = hashlib.sha256()
    for path in sorted(ROOT.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
            digest.update(path.relative_to(ROOT).as_posix().encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{__version__}+{digest.hexdigest()[:12]}"
