"""Names in a configuration that refer to something: each is looked up before Spark starts.

The sections check themselves when they are read. Here stands what needs to know more than one
section, or what there is in the method: settings, populations, covariates, adversaries, tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nes_spark.entities.combination import BOTH
from nes_spark.errors import ConfigError, InputError

if TYPE_CHECKING:
    from nes_spark.config import Config

#: Rules that a hit of the leak search may have (table ``leaks``).
LEAK_RULES = (
    "name", "part", "ticker", "url", "email", "phone", "date", "literal", "pattern",
    "other_document", "swapped_in",
)  # fmt: skip
#: Those by which the value that must stay secret may be found.
SECRET_RULES = ("name", "part", "date", "literal")
#: Rules of choice that name a combination.
_NAMING = ("max_rate", "candidate")
#: Finds faults of a configuration: one line each, with what is allowed.
Check = Callable[["Config"], Iterator[str]]


def check_config(config: Config, planned: bool = False) -> None:
    """Look up every name that refers to something.

    Parameters
    ----------
    config : Config
    planned : bool, optional
        Whether the run is only planned: then no input need be named.

    Raises
    ------
    ConfigError
        When any refers to nothing; all of them are listed with what there is.
    """
    faults = [
        fault for check in CHECKS if not (planned and check is _input) for fault in check(config)
    ]
    if len(faults) == 1:
        raise ConfigError(faults[0])
    if faults:
        listed = "".join(f"\n  {fault}" for fault in faults)
        raise ConfigError(f"{len(faults)} faults:{listed}")


def unknown(where: str, what: str, name: object, known: Collection[object]) -> str:
    """Return the line about a name that refers to nothing."""
    listed = ", ".join(str(k) for k in known) or "none"
    return f"{where}: unknown {what} {str(name)!r}; there are {listed}"


def _input(config: Config) -> Iterator[str]:
    from nes_spark.config.sections import SOURCE, TABLE  # help is shown without pydantic

    table = config.input.format.startswith(TABLE)
    if table and config.input.path:
        yield f"input.path: format {config.input.format} reads a table, no path; leave one out"
    if not config.input.path and not (table or config.input.format.startswith(SOURCE)):
        yield "input.path: is missing; set it or give --input PATH"


def _tables(config: Config) -> Iterator[str]:
    if config.output.release_format == "delta":
        from nes_spark.releases.table_stages import NAMES, table_place
        from nes_spark.text.source_stages import delta_folder

        try:
            delta_folder(table_place(config.output, NAMES[0], config.period))
        except InputError as error:
            yield f"output.release_path: {error}"


def _reused(config: Config) -> Iterator[str]:
    from nes_spark.run.earlier import PREVIOUS

    named = config.output.reuse
    if named not in (None, PREVIOUS) and "://" not in named:
        from nes_spark.store import Store

        if Store(named).read_manifest("chunks") is None:
            yield (
                f"output.reuse: {named} holds no finished chunks; give a run folder such as "
                "out/2020Q3, previous or null"
            )


def _covariates(config: Config) -> Iterator[str]:
    known = config.input.columns.covariates
    for name in config.releases.constraints.same_covariates:
        if name not in known:
            yield unknown("releases.constraints.same_covariates", "covariate", name, known)


def _identifiers(config: Config) -> Iterator[str]:
    from nes_spark.text.kinds import check_kinds

    try:
        check_kinds(config.input.columns, config.identifiers)
    except ConfigError as error:
        yield from str(error).splitlines()
    for kind in config.gates.require:
        if kind not in config.identifiers.kinds:
            yield unknown("gates.require", "kind", kind, config.identifiers.kinds)


def _accepted(config: Config) -> Iterator[str]:
    from nes_spark.text.kinds import kinds_of_secret

    covering = kinds_of_secret(config.input.columns)
    known = [*config.identifiers.kinds, *LEAK_RULES]
    rules = {config.identifiers.kinds[k].rule for k in covering if k in config.identifiers.kinds}
    finding = {*SECRET_RULES, *(rules & {"ticker"})}
    allowed = [name for name in known if name not in finding.union(covering)]
    for name in config.gates.accept_identifiers:
        if name not in known:
            yield unknown("gates.accept_identifiers", "kind or rule", name, known)
        elif name not in allowed:
            what = "is a kind of" if name in covering else "is a rule that finds"
            yield (
                f"gates.accept_identifiers: {name!r} {what} the value that must stay secret "
                f"(input.columns.metadata: {config.input.columns.metadata}), which a release never "
                f"holds; allowed are {', '.join(allowed)}: take it out, or list the forms that are "
                "ordinary words under identifiers.allow"
            )


def _consistency(config: Config) -> Iterator[str]:
    known = config.entities.categories
    for name in config.entities.consistent_categories:
        if name not in known:
            yield unknown("entities.consistent_categories", "category", name, known)


def _families(config: Config) -> Iterator[str]:
    from nes_spark.mixture.families import check_families

    try:
        check_families(config.mixture.family)
    except ConfigError as error:
        yield str(error)


def _leftover(config: Config) -> Iterator[str]:
    from nes_spark.swapping.treatments import check_order

    releases = config.releases
    if releases.plan == "pairs" and releases.unit != "chunk":
        yield (
            f"releases.unit: {releases.unit} is for releases.plan whole; plan pairs exchanges "
            "chunks: set releases.unit chunk or releases.plan whole"
        )
    if releases.unit == BOTH and config.report.options:
        yield (
            "report.options: compares samplers of pairs of chunks on the chosen combination, which "
            "releases.unit both has for two units: take the options out or name one unit"
        )
    if releases.plan == "whole":
        try:
            check_order(releases.leftover, "the configuration")
        except ValueError as error:
            yield f"releases.leftover: {error}"
        if "recode" in releases.leftover and not config.entities.recoding:
            yield "releases.leftover: recode needs classes; give entities.recoding"
        if "general" in releases.leftover and "Term" not in releases.further:
            yield "releases.leftover: general is for terms; add Term to releases.further"


def _choice(config: Config) -> Iterator[str]:
    from nes_spark.mixture.settings import settings_of

    settings = [setting.name for setting in settings_of(config.mixture)]
    if config.choice.setting is not None and config.choice.setting not in settings:
        yield unknown("choice.setting", "mixture setting", config.choice.setting, settings)
    population = config.choice.population
    if population is not None and population not in config.risk.population:
        shown = [n if isinstance(n, str) else f"{n:g}" for n in config.risk.population]
        named = population if isinstance(population, str) else f"{population:g}"
        yield unknown("choice.population", "population", named, shown)
    choice, audit = config.choice, config.audit
    if choice.unit is not None and config.releases.unit != BOTH:
        yield (
            f"choice.unit: {choice.unit} chooses among the units of releases.unit both; it is "
            f"{config.releases.unit}: leave choice.unit out"
        )
    ambiguous = choice.rule in _NAMING and choice.combination and choice.unit is None
    if ambiguous and config.releases.unit == BOTH:
        yield (
            f"choice.unit: rule {choice.rule} names a candidate, and releases.unit both has it for "
            "two units: set choice.unit to chunk or document"
        )
    whole = config.releases.plan == "whole"
    if choice.rule == "coverage" and not whole:
        yield "choice.rule: coverage is a share of the exchanges of releases.plan whole, not pairs"
    attacked = whole and audit.linkage and audit.documents and audit.candidates
    if choice.risk not in (None, "DR") and not attacked:
        yield (
            f"choice.risk: {choice.risk} needs releases.plan whole with audit.linkage, "
            "audit.documents and audit.candidates; or choose by DR"
        )
    if choice.utility == "fidelity" and config.utility.judge == "off":
        yield "choice.utility: fidelity needs utility.judge: contextual; or choose by DU"


def _adversaries(config: Config) -> Iterator[str]:
    from nes_spark.audit.adversaries import check_names

    try:
        check_names(config.audit)
    except ConfigError as error:
        yield str(error)
    models = {model.name for model in config.audit.models}
    bound = [name for name in config.audit.gate_models if name in models]
    if bound and config.gates.max_linkage_accuracy is None:
        yield (
            f"audit.gate_models: {', '.join(bound)} is bound by gates.max_linkage_accuracy, which "
            "is not set; set it to a share from 0 to 1, or take the language model out"
        )


def _given(config: Config) -> Iterator[str]:
    given, column = config.entities.recognizer == "given", config.input.columns.mentions
    if given and column is None:
        yield "entities.recognizer: 'given' needs the column of the spans, input.columns.mentions"
    if column is not None and not given:
        yield (
            f"input.columns.mentions: {column!r} is only used with entities.recognizer: given; "
            f"it is {config.entities.recognizer!r}"
        )
    if given and config.report.linking:
        yield (
            "report.linking: compares what the recogniser found, which is nothing with "
            "entities.recognizer: given"
        )


def _tasks(config: Config) -> Iterator[str]:
    from nes_spark.utility.tasks import load_task

    names: dict[str, str] = {}
    for path in config.utility.tasks:
        try:
            name = load_task(path).name
        except ConfigError as error:
            yield str(error)
            continue
        if name in names:
            yield f"utility.tasks: {path!r} and {names[name]!r} have the same name {name!r}"
        names[name] = path


def _listed(config: Config) -> Iterator[str]:
    from nes_spark.store import local_path

    lists = {"output.withhold": config.output.withhold, "entities.clues": config.entities.clues}
    for key, given in lists.items():
        local = None if given is None else local_path(given)
        if local is not None and not Path(local).exists():
            yield f"{key}: {given} is not there; 'nes-spark audit' writes such a list"


#: All checks, in the order in which their faults are listed.
CHECKS: list[Check] = [
    _input, _tables, _reused, _covariates, _identifiers, _accepted, _consistency, _families,
    _leftover, _choice, _adversaries, _given, _tasks,
    _listed,
]  # fmt: skip
