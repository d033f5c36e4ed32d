"""Configurations of other kinds of text with a small invented corpus to try each on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from nes_spark.errors import ConfigError
from nes_spark.starting.files import folder_of
from nes_spark.starting.writing import read_back

#: Name -> the configuration in ``conf`` that it starts from.
EXAMPLES: Mapping[str, str] = {
    "calls": "demo.yaml",
    "clinical": "clinical.yaml",
    "patents": "patents.yaml",
}


def write_example(name: str, folder: Path, replace: bool = False) -> tuple[Path, Path]:
    """Write a configuration and an invented corpus for it.

    Parameters
    ----------
    name : str
        One of :data:`EXAMPLES`.
    folder : pathlib.Path
        Made where it is missing.
    replace : bool, optional
        Write over files that are there.

    Returns
    -------
    (pathlib.Path, pathlib.Path)
        Configuration and corpus.

    Raises
    ------
    ConfigError
        When a file is there already.
    """
    conf, corpus = folder / f"{name}.yaml", folder / f"{name}.jsonl"
    for path in (conf, corpus):
        if path.exists() and not replace:
            raise ConfigError(f"{path}: is there already; give --force to write over it")
    text = (folder_of("conf") / EXAMPLES[name]).read_text(encoding="utf-8")
    header = [
        f"# The example {name!r} of nes_spark; everybody in it is invented. Run it:",
        f"#   nes-spark run {conf} --output out/{name}",
        "# For texts of your own change the section input, or let 'nes-spark init' look.",
    ]
    content = "\n".join(header) + "\n" + text[text.index("name:") :]
    content = re.sub(r"^  # path: .*\n", "", content, flags=re.MULTILINE)
    content = content.replace("input:\n", f"input:\n  path: {corpus.as_posix()!r}\n", 1)
    read_back(content)
    folder.mkdir(parents=True, exist_ok=True)
    from nes_spark.demo.__main__ import line_of

    with corpus.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(line_of(record) for record in _records(name))
    conf.write_text(content, encoding="utf-8", newline="\n")
    return conf, corpus


def _records(name: str) -> Iterable[dict[str, Any]]:
    import json

    from nes_spark.demo import corpus_path, filings, notes

    if name == "calls":
        with corpus_path().open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    made: Callable[[], Iterable[Any]] = {"clinical": notes, "patents": filings}[name]
    return (record for record, _ in made())
