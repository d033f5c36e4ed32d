"""What ``nes-spark init`` does: look, decide or ask, write, and say what comes next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nes_spark.errors import ConfigError
from nes_spark.starting.examples import write_example
from nes_spark.starting.looking import look_at
from nes_spark.starting.proposing import Ask, Told, kind_of, propose, unsearched
from nes_spark.starting.writing import write_configuration

#: From this share of texts with hardly a capital on it is said what that costs.
SMALL = 0.05
#: What is said of whom the release is to hide from.
_AGAINST = {
    "names": "hides from who knows names; --against words or memory hides from who knows more",
    "words": "hides from who knows names and what each is about: figures change, a tenth of the "
    "words goes, and passages are short; --against names leaves more to read, memory hides from "
    "a model that remembers",
    "memory": "hides from who remembers the texts as far as can be: passages of fifty words by "
    "themselves, three tenths of their words gone; --against words leaves more to read",
}
#: Of fewer texts there may be no estimate of the risk: every passage is unique.
FEW = 40


def example(name: str, folder: Path, force: bool = False) -> str:
    """Write an example; return what to do with it."""
    conf, corpus = write_example(name, folder, force)
    return f"{conf} and {corpus} written\nnext: nes-spark run {conf} --output out/{name}"


def initialize(
    files: Sequence[str],
    told: Mapping[str, Any],
    metadata_table: str | None = None,
    name: str | None = None,
    output: str | None = None,
    force: bool = False,
    ask: Ask | None = None,
    tell: Callable[[str], None] = print,
) -> str:
    """Write a configuration for files; return what to do next.

    Parameters
    ----------
    files : sequence of str
        Files of one format, a folder, or a glob.
    told : mapping
        Options by the names of :class:`~nes_spark.starting.proposing.Told`.
    metadata_table : str, optional
        For texts as files.
    name, output : str, optional
        Name of the corpus and file to write; by default after the first file.
    force : bool, optional
        Write over a file that is there.
    ask : callable, optional
        Asks a person; without it what is missing is an error.
    tell : callable, optional
        Shows what was seen: counts and lengths only.

    Raises
    ------
    ConfigError
        When something was not told, or the file is there already.
    InputError
        When the files cannot be used, or an option names a column that is not there.
    """
    look = look_at(files, metadata_table)
    stem = name or Path(files[0]).name.split(".")[0].strip("*?{[") or "corpus"
    target = Path(output or f"{stem}.yaml")
    if target.exists() and not force:
        raise ConfigError(f"{target}: is there already; give --output FILE, or --force")
    tell(look.table())
    proposal = propose(look, Told(**told), ask)
    text = write_configuration(proposal, stem, metadata_table)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8", newline="\n")
    roles = [f"secret {proposal.secret.name}", f"text {proposal.body.name}"]
    if proposal.document_id is not None:
        roles.insert(0, f"id {proposal.document_id.name}")
    if proposal.period is not None:
        roles.append(f"period {proposal.period.name}")
    roles += [f"{kind} {', '.join(names)}" for kind, names in proposal.identifiers.items()]
    careful = f"CAREFUL: {look.not_utf8}\n" if look.not_utf8 else ""
    if look.whole and look.records < FEW:
        careful += (
            f"CAREFUL: only {look.records} texts: of so few there may be no estimate of the risk, "
            "and the run then ends without a release; give it more, if there are any\n"
        )
    if proposal.body.small >= SMALL:
        careful += (
            f"CAREFUL: {proposal.body.small:.0%} of the texts have hardly a capital: the bundled "
            "recogniser finds few names there, and no gate misses what it does not find; list the "
            "people and places of each text in a column (--identifier), and read what is "
            "released\n"
        )
    if told.get("identifiers") and (left := unsearched(proposal)):
        hint = " ".join(f"--identifier {kind_of(c.name)}={c.name}" for c in left)
        careful += (
            f"CAREFUL: values of {', '.join(c.name for c in left)} stand in the texts as well, and "
            f"nobody looks for them; where they name or number a record: {hint}\n"
        )
    told_against = _AGAINST[proposal.against]
    return (
        f"\n{target} written: {'; '.join(roles)}\n{careful}{told_against}\n"
        f"next: read it, then nes-spark run {target} --output out"
    )
