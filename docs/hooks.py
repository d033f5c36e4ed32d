"""Pages that are made when the site is built: all keys of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nes_spark.config.describing import keys

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

HEAD = """# Configuration

Every key, its default, what is allowed, what it does. `nes-spark config` prints the same,
`nes-spark config KEY` one of them, and `nes-spark config --schema` gives the JSON schema: save it,
and begin a configuration with `# yaml-language-server: $schema=nes_spark.schema.json`, so that
editors complete and check keys.

`KIND` stands for a name of your own, `[]` for an item of a list. Any key can be set on the command
line: `--set mixture.n_components=30`.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def configuration_page() -> str:
    """Return the page with all keys, a table for each section."""
    lines = [HEAD]
    section = None
    for key in keys():
        place = key.name.rpartition(".")[0]
        if place != section:
            section = place
            lines += ["", f"## {place or 'the whole'}", ""]
            lines += [key.section, "", "| key | default | allowed | meaning |", "|---|---|---|---|"]
        allowed = ", ".join(part for part in (key.type, key.allowed) if part)
        default = key.default if len(key.default) <= 60 else key.default[:57] + "..."
        name = key.name.rpartition(".")[2]
        lines.append(f"| `{name}` | `{_cell(default)}` | {_cell(allowed)} | {_cell(key.words)} |")
    return "\n".join(lines) + "\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page to the site."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "configuration.md", content=configuration_page()))
    return files
