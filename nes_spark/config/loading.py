"""Read a configuration file, apply overrides, and report all faults at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from nes_spark.config.faults import describe_fault, section_of, set_dotted
from nes_spark.config.sections import Config
from nes_spark.errors import ConfigError

#: Overrides that say where a run works, not what it does.
_PLACES = ("input.path", "output.directory", "period", "tracking.uri", "spark.master")


def build_config(content: Mapping[str, Any], source: str = "configuration") -> Config:
    """Validate a mapping; see :func:`load_config`."""
    try:
        return Config.model_validate(dict(content))
    except ValidationError as error:
        faults = [describe_fault(Config, e) for e in error.errors()]
        if len(faults) == 1:
            raise ConfigError(f"{source}: {faults[0]}") from None
        listed = "".join(f"\n  {fault}" for fault in faults)
        raise ConfigError(f"{source}: {len(faults)} faults:{listed}") from None


def load_config(
    path: str | Path | None = None, overrides: Mapping[str, Any] | None = None
) -> Config:
    """Read a YAML configuration and apply overrides.

    Parameters
    ----------
    path : str or pathlib.Path or None
        YAML file; None for the defaults.
    overrides : mapping, optional
        Dotted key -> value, for example ``{"chunking.threshold": 80}``. Values replace those of the
        file; a nested mapping replaces a whole section.

    Returns
    -------
    Config
        Validated and immutable.

    Raises
    ------
    ConfigError
        When the file cannot be read, is not YAML, or has faults; all of them are listed, unknown
        keys with the valid ones.
    """
    content: Any = {}
    if path is not None:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise ConfigError(
                f"{path}: no such file; give the path of a YAML file ('nes-spark init' writes one "
                "for your files, 'nes-spark files --copy .' brings those of the package)"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read: {error}") from None
        try:
            content = yaml.safe_load(text) or {}
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f" at line {mark.line + 1}" if mark else ""
            raise ConfigError(f"{path}: not valid YAML{where}") from None
        except (ValueError, RecursionError):
            raise ConfigError(f"{path}: a number or nesting in it is too large") from None
        if not isinstance(content, dict):
            raise ConfigError(
                f"{path}: must be a mapping of sections, got {type(content).__name__}"
            )
    for dotted, value in (overrides or {}).items():
        set_dotted(content, dotted, value)
    config = build_config(content, str(path) if path is not None else "configuration")
    changed = {_known_part(key) for key in overrides or () if key not in _PLACES}
    config._changed = tuple(sorted(changed))
    return config


def _known_part(key: str) -> str:
    """A dotted key as far as it names fields: what follows is the user's own, perhaps a name."""
    model: type[BaseModel] | None = Config
    known = []
    for part in key.split("."):
        field = model.model_fields.get(part) if model is not None else None
        if field is None:
            break
        known.append(part)
        own_names = get_origin(field.annotation) in (dict, list)
        model = None if own_names else section_of(field.annotation)
    return ".".join(known)
