"""The command line. Exit codes: 0 done or nothing to do, 2 configuration, 3 input, 4 gate refused,
5 infrastructure, 1 anything else.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

import nes_spark
from nes_spark import logs
from nes_spark.errors import ConfigError, NesError
from nes_spark.failures import translate

if TYPE_CHECKING:
    from nes_spark.config import Config

# When Python ends it looks for garbage again and again among all that a run has loaded, for seconds
# after the last line was printed.
atexit.register(gc.freeze)


def parse_settings(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Turn ``key=value`` pairs into overrides; values are YAML, so ``[10, 30]`` is a list."""
    overrides: dict[str, Any] = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key.strip():
            raise ConfigError(
                f"--set {pair!r}: must be key=value, e.g. --set chunking.threshold=80"
            )
        try:
            parsed = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise ConfigError(f"--set {key}: {value[:80]!r} is not a YAML value") from None
        if isinstance(parsed, str):  # YAML 1.1 reads 1e-3 and 1e20 as strings
            with contextlib.suppress(ValueError):
                parsed = float(parsed)
        overrides[key.strip()] = parsed
    return overrides


def overrides_of(
    input_path: str | None, output: str | None, period: str | None, settings: tuple[str, ...]
) -> dict[str, Any]:
    """Merge the named options and ``--set`` pairs into configuration overrides."""
    overrides = parse_settings(settings)
    for key, value in (
        ("input.path", input_path),
        ("output.directory", output),
        ("period", period),
    ):
        if value is not None:
            overrides[key] = value
    return overrides


@contextlib.contextmanager
def one_line_errors(ctx: click.Context) -> Iterator[None]:
    """Turn the package's errors into one line and an exit code."""
    try:
        yield
    except NesError as error:
        click.echo(f"error: {error}", err=True)
        ctx.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("stopped; run the same command again to resume", err=True)
        ctx.exit(130)
    except (click.exceptions.Exit, click.ClickException):
        raise
    except Exception as error:
        found = translate(error, ctx.info_name or "nes-spark")
        if found is None:  # a mistake of this program
            raise
        click.echo(f"error: {found}", err=True)
        ctx.exit(found.exit_code)


class _Group(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        with one_line_errors(ctx):
            return super().invoke(ctx)


class _Command(click.Command):
    def invoke(self, ctx: click.Context) -> Any:
        with one_line_errors(ctx):
            return super().invoke(ctx)


_force = click.option("--force", is_flag=True, help="Run every stage, done or not.")
_profile = click.option(
    "--profile",
    is_flag=True,
    help="Write report/profile.csv and .svg: where the time of each stage went.",
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that a run takes; the scripts in ``jobs/`` share them."""
    for option in reversed(
        (
            click.option(
                "--input",
                "input_path",
                metavar="PATH",
                help="File, folder or glob of documents.  [default: input.path of the "
                "configuration]",
            ),
            click.option(
                "--output",
                metavar="DIR",
                help="The run goes to DIR/PERIOD.  [default: output.directory; demo: out/demo]",
            ),
            click.option(
                "--period",
                metavar="PERIOD",
                help="Only documents of this period.  [default: period, else all documents]",
            ),
            click.option(
                "--set",
                "settings",
                multiple=True,
                metavar="KEY=VALUE",
                help="Override a configuration key, e.g. --set mixture.n_components=30; "
                "'nes-spark config' lists them.  [default: none]",
            ),
            click.option("--log-json", is_flag=True, help="Log JSON lines.  [default: text]"),
            click.option(
                "--quiet",
                is_flag=True,
                help="Log warnings and errors only.  [default: a line a stage]",
            ),
        )
    ):
        command = option(command)
    return command


@click.group(cls=_Group)
@click.version_option(nes_spark.__version__, prog_name="nes-spark")
def main() -> None:
    """Anonymize a corpus of texts by named entity swapping, on Apache Spark."""


@main.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--secret", metavar="COLUMN", help="What nobody may be able to tell from a text.")
@click.option("--id", "document_id", metavar="COLUMN", help="What tells documents apart.")
@click.option("--text", metavar="COLUMN", help="The whole text as one string.")
@click.option("--turns", metavar="COLUMN", help="The text as an array of speaker turns.")
@click.option("--period", metavar="COLUMN", help="Cross-sections, e.g. quarters; or none.")
@click.option(
    "--identifier",
    "identifiers",
    multiple=True,
    metavar="KIND=COLUMN",
    help="Names to replace, e.g. judge=judges or party:person=parties; as often as needed.",
)
@click.option("--no-identifiers", is_flag=True, help="No column but the secret lists names.")
@click.option(
    "--presentation",
    type=click.Choice(["earnings_call", "none"]),
    help="Only what comes before the questions, or all.  [default: by a look at the texts]",
)
@click.option(
    "--against",
    type=click.Choice(["names", "words", "memory"]),
    help="Whom to hide from: who knows names; who knows what each is about as well (words); a "
    "language model that remembers the texts. Each costs more of the meaning.  [default: words]",
)
@click.option("--metadata-table", metavar="FILE", help="For a folder of .txt files: whose each is.")
@click.option(
    "--example",
    type=click.Choice(["calls", "clinical", "patents"]),
    help="Instead of FILE: a configuration with an invented corpus to try it on.",
)
@click.option("--name", help="Shown in report and MLflow.  [default: the file's name]")
@click.option(
    "--output",
    metavar="FILE",
    help="What to write; a folder for --example.  [default: NAME.yaml, here]",
)
@click.option("--force", is_flag=True, help="Write over what is there.")
def init(
    files: tuple[str, ...],
    metadata_table: str | None,
    example: str | None,
    name: str | None,
    output: str | None,
    force: bool,
    **told: Any,
) -> None:
    """Look at FILEs and write a commented configuration for them.

    CSV, JSON Lines, Parquet, or a folder of .txt files. No text is shown. On a terminal it asks for
    what the options leave open; elsewhere it names the option that is missing.
    """
    from nes_spark.starting import init as starting

    if example is not None:
        if files or any(told.values()) or metadata_table:
            raise ConfigError("--example brings its own files; leave FILE and its options out")
        click.echo(starting.example(example, Path(output or "."), force))
        return
    ask = _ask if _on_terminal() else None
    click.echo(
        starting.initialize(files, told, metadata_table, name, output, force, ask, click.echo)
    )


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask(option: str, question: str, choices: Sequence[str], likely: str | None) -> str:
    """Ask a person; the answer is one of the choices."""
    head, line, rest = question.partition("\n")
    click.echo(f"\n{head} ({option}){line}{rest}")
    return str(click.prompt("  ", type=click.Choice(list(choices)), default=likely))


@main.command("config")
@click.argument("key", required=False)
@click.option("--schema", is_flag=True, help="The JSON schema instead, for editors.")
def show_config(key: str | None, schema: bool) -> None:
    """Print every key of a configuration with its default, range and meaning; or of KEY only."""
    from nes_spark.config import describing

    if schema and key:
        raise ConfigError("--schema is about the whole configuration; leave KEY out")
    click.echo(describing.schema_text() if schema else describing.describe(key))


@main.command()
@click.option("--copy", metavar="DIR", help="Copy them into this folder.")
def files(copy: str | None) -> None:
    """List the configurations and the spark-submit scripts that come with the package."""
    from nes_spark.starting.files import copy_to, listing

    if copy is None:
        click.echo(listing())
    else:
        click.echo("\n".join(f"{path} written" for path in copy_to(Path(copy))))


@main.command()
@click.argument("conf", type=click.Path(dir_okay=False))
@run_options
@click.option("--plan", is_flag=True, help="Print the stages and stop.")
@click.option(
    "--sample",
    metavar="SHARE",
    help="With --plan: run samples of the documents, the larger with this share or number (1%, "
    "200; at least 32 where there are so many), and say what time, memory and release space a run "
    "of all takes. Nothing of it stays.",
)
@_force
@click.option("--replace", is_flag=True, help="Do not ask before a release is replaced.")
@_profile
def run(
    conf: str,
    input_path: str | None,
    output: str | None,
    period: str | None,
    settings: tuple[str, ...],
    log_json: bool,
    quiet: bool,
    plan: bool,
    sample: str | None,
    force: bool,
    replace: bool,
    profile: bool,
) -> None:
    """Run the whole pipeline with the configuration CONF.

    Where the output holds a release that was made with other settings, it says what differs and, on
    a terminal, asks before it replaces that.
    """
    logs.configure(log_json, quiet)
    if sample is not None and not plan:
        raise ConfigError("--sample is for --plan: nes-spark run CONF --plan --sample 1%")
    config = nes_spark.load_config(conf, overrides_of(input_path, output, period, settings))
    if plan:
        click.echo(nes_spark.describe_plan(config))
        if sample is not None:
            from nes_spark.run.forecast import forecast

            click.echo(f"\n{forecast(config, sample)}")
        return
    _tell_what_is_replaced(config, ask=_on_terminal() and not replace)
    click.echo(str(nes_spark.run(config, force=force, profile=profile)))


def _tell_what_is_replaced(config: Config, ask: bool) -> None:
    """Say which release a run replaces; stop where a person does not want that."""
    if "://" in config.output.directory:  # only local folders: a look elsewhere costs time
        return
    if not Path(config.output.directory, config.period or "all").is_dir():
        return
    from nes_spark.run.context import run_folder
    from nes_spark.run.published import replaced_by

    found = replaced_by(config, run_folder(config))
    if found is None:
        return
    if not ask:
        logs.LOGGER.warning(found)
    elif not click.confirm(f"{found}\nGo on?", err=True):
        raise ConfigError("nothing was changed; give another --output to keep both releases")


@main.command()
@run_options
@_force
@_profile
def demo(
    input_path: str | None,
    output: str | None,
    period: str | None,
    settings: tuple[str, ...],
    log_json: bool,
    quiet: bool,
    force: bool,
    profile: bool,
) -> None:
    """Run the main job on the bundled corpus of fictional companies."""
    from nes_spark.demo import config_path, corpus_path

    logs.configure(log_json, quiet)
    overrides = overrides_of(
        input_path or str(corpus_path()), output or "out/demo", period, settings
    )
    config = nes_spark.load_config(config_path(), overrides)
    click.echo(str(nes_spark.run(config, force=force, profile=profile)))


@main.command()
@click.argument("run_dir", type=click.Path(file_okay=False))
@click.option("--output", type=click.Path(), required=True, help="JSON Lines file to write.")
def invert(run_dir: str, output: str) -> None:
    """Restore the chunks of the release in RUN_DIR with its sealed ledger."""
    from nes_spark.run.inverting import invert_release

    rows = invert_release(run_dir, Path(output))
    click.echo(f"{rows} chunks restored to {output}")


@main.command()
@click.argument("run_dir", type=click.Path(file_okay=False))
@click.option("--category", help="Of one category only, e.g. Organization.")
@click.option("--doubtful", is_flag=True, help="Only what most likely is no name.")
@click.option(
    "--most", type=click.IntRange(min=1), default=40, show_default=True, help="Lines to show."
)
@click.option("--output", type=click.Path(dir_okay=False), help="Write all as CSV, owner only.")
def names(
    run_dir: str, category: str | None, doubtful: bool, most: int, output: str | None
) -> None:
    """List what RUN_DIR took for names, the most doubtful first. As secret as the texts.

    A form of general words that many sources have tells none of them, and whatever comes in its
    place breaks a sentence: lines for entities.deny, which leaves such forms alone, stand below the
    list.
    """
    from nes_spark.run.naming import as_denied, csv_of, names_of, table_of

    found = names_of(run_dir, category)
    if doubtful:
        found = [row for row in found if row.is_doubtful]
    if output is not None:
        from nes_spark.swapping.seeds import write_private

        write_private(Path(output), csv_of(found).encode())
        click.echo(f"{len(found):,} forms written to {output}")
        return
    click.echo(table_of(found[:most]))
    if len(found) > most:
        click.echo(f"and {len(found) - most:,} more: --most, or --output FILE for all")
    if lines := as_denied(found):
        click.echo(
            f"\nread these, take out what is a name, and put them into your configuration:\n{lines}"
        )


@main.command("rotate-key")
@click.argument("run_dir", type=click.Path(file_okay=False))
@click.option(
    "--old-env",
    default="NES_SPARK_LEDGER_KEY",
    show_default=True,
    metavar="NAME",
    help="Environment variable with the key the ledger has now.",
)
@click.option(
    "--new-env",
    default="NES_SPARK_LEDGER_NEW_KEY",
    show_default=True,
    metavar="NAME",
    help="Environment variable with the key it shall have.",
)
def rotate_key(run_dir: str, old_env: str, new_env: str) -> None:
    """Encrypt the ledger of RUN_DIR with another key; a plain ledger is encrypted.

    The content stays the same. A crash leaves the ledger under the old key or under the new one.
    """
    from nes_spark.run.runner import rotate_ledger_key

    old, new = rotate_ledger_key(run_dir, old_env, new_env)
    if old is None:
        click.echo(f"ledger of {run_dir}: it was plain and is now encrypted with key {new}")
    else:
        click.echo(f"ledger of {run_dir}: key {old} replaced by key {new}")


@main.command()
@click.argument("run_dir", type=click.Path(file_okay=False))
@click.option("--conf", type=click.Path(), help="Configuration whose section audit is used.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="E.g. audit.draws=5.")
@click.option("--dry-run", is_flag=True, help="Only tell requests, tokens and price.")
@click.option("--no-wait", is_flag=True, help="Do not wait for batches; call again to collect.")
def audit(
    run_dir: str, conf: str | None, settings: tuple[str, ...], dry_run: bool, no_wait: bool
) -> None:
    """Ask language models whose texts those of RUN_DIR are, before and after.

    By default swapped chunks; audit.about: chunks or documents for all that is released.
    """
    from nes_spark.run.language_models import audit_run, results_table
    from nes_spark.run.published import configuration_of

    logs.configure()
    config = configuration_of(run_dir, conf, parse_settings(settings))
    results = audit_run(run_dir, config, dry_run=dry_run, wait=not no_wait, tell=click.echo)
    if results:
        click.echo(results_table(results))


@main.command()
@click.argument("run_dir", type=click.Path(file_okay=False))
@click.option("--coverage", type=float, help="Share of the exchanges of plan whole, e.g. .8.")
@click.option("--rule", help="A rule of choice, e.g. lowest_risk.")
@click.option("--combination", help="Categories of a candidate, e.g. Person+Product.")
@click.option("--swaps", type=int, help="Number of swaps of that candidate.")
@click.option("--unit", help="chunk or document: of a run with both units.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="E.g. choice.slope=2.")
def choose(
    run_dir: str,
    coverage: float | None,
    rule: str | None,
    combination: str | None,
    swaps: int | None,
    unit: str | None,
    settings: tuple[str, ...],
) -> None:
    """Publish another candidate of RUN_DIR in place of its release; no stage runs again.

    Whoever holds two releases of one sequence of swaps sees original names where they differ: call
    the earlier one back.
    """
    from nes_spark.run.choosing import choices_of, choose_again

    logs.configure()
    named = parse_settings(settings)
    click.echo(choose_again(run_dir, choices_of(coverage, rule, combination, swaps, named, unit)))


@main.command()
@click.argument("run_dirs", nargs=-1, required=True, type=click.Path(file_okay=False))
@click.option(
    "--output", type=click.Path(file_okay=False), default="out/compare", show_default=True
)
@click.option("--no-mlflow", is_flag=True, help="Do not record the comparison in MLflow.")
def compare(run_dirs: tuple[str, ...], output: str, no_mlflow: bool) -> None:
    """Compare the releases of several run folders: a table here, a page in OUTPUT, MLflow."""
    from nes_spark.compare.comparison import compare_runs

    click.echo(compare_runs(list(run_dirs), Path(output), track=not no_mlflow))


@main.command()
@click.argument("earlier", nargs=-1, required=True, type=click.Path(file_okay=False))
@click.argument("later", type=click.Path(file_okay=False))
@click.option(
    "--attack",
    is_flag=True,
    help="Attack LATER by who holds the originals of the EARLIER runs, and by who holds their "
    "releases too. Give the runs from the oldest to the newest.",
)
@click.option(
    "--max-documents",
    type=click.IntRange(min=1),
    help="With --attack: most documents of a run, read into memory. [default: audit.max_documents]",
)
def overlap(earlier: tuple[str, ...], later: str, attack: bool, max_documents: int | None) -> None:
    """Count which swaps of the EARLIER runs the run LATER repeats, for chunks that both hold."""
    if attack:
        from nes_spark.compare.quarters import attack_quarters

        click.echo(str(attack_quarters(earlier, later, max_documents)))
        return
    if max_documents is not None:
        raise click.UsageError("--max-documents is for --attack")
    from nes_spark.compare.overlap import overlap_of

    for number, run in enumerate(earlier):
        if len(earlier) > 1:
            click.echo(f"{'' if not number else chr(10)}{run} and {later}")
        click.echo(str(overlap_of(run, later)))


@main.command()
@click.option("--output", type=click.Path(file_okay=False), default="out", show_default=True)
@click.option(
    "--conf", type=click.Path(dir_okay=False), help="Check what this configuration needs."
)
def doctor(output: str, conf: str | None) -> None:
    """Check Java, Python, Spark, models, the seed, MLflow, disk and modes of sealed folders."""
    from nes_spark.doctor import examine

    findings = examine(Path(output), conf)
    for finding in findings:
        click.echo(str(finding))
    if any(not f.ok for f in findings):
        sys.exit(5)


@main.command()
@click.option("--remove", is_flag=True, help="Remove what earlier calls made, of all versions.")
def prepare(remove: bool) -> None:
    """Let Spark start faster on this machine, once for a version of Java and Spark.

    Java keeps the classes that it loads in one file of the user's cache (190 MB); sessions that
    nes-spark starts here use it from then on.
    """
    from nes_spark import sharing

    if remove:
        found = sharing.remove()
        click.echo(f"{found} {'archive' if found == 1 else 'archives'} removed")
        return
    from nes_spark.starting.preparing import prepare as prepare_session

    click.echo("starting Spark once and keeping its classes (half a minute)", err=True)
    click.echo(str(prepare_session()))


def stage_command(name: str) -> click.Command:
    """Return the command of one stage, for the scripts in ``jobs/``.

    Parameters
    ----------
    name : str
        A stage, ``release``, or ``pipeline`` for all of them.
    """

    @click.command(cls=_Command, help=f"Run {name}; the stages before it must have finished.")
    @click.option("--conf", required=True, type=click.Path(), help="Configuration (YAML).")
    @run_options
    def command(
        conf: str,
        input_path: str | None,
        output: str | None,
        period: str | None,
        settings: tuple[str, ...],
        log_json: bool,
        quiet: bool,
    ) -> None:
        logs.configure(log_json, quiet)
        config = nes_spark.load_config(conf, overrides_of(input_path, output, period, settings))
        if name == "pipeline":
            click.echo(str(nes_spark.run(config)))
        else:
            click.echo(nes_spark.run_stage(config, name))

    return command


if __name__ == "__main__":
    main()
