"""`config/experiments/*.yaml`: reads and checks the experiments."""

from __future__ import annotations

from typing import Any

from replay.base import plugins
from replay.base.errors import ConfigurationError
from replay.base.invocation import suggestion
from replay.base.paths import config_directory, program_file
from replay.design.documents import Document, load_validated_document


def experiment_names(scale: str | None = None) -> list[str]:
    """Return the names of all configured experiments; with `scale`, of those that have it.

    Raises ConfigurationError if `scale` is given and an experiment's file is wrong.
    """
    names = sorted(path.stem for path in (config_directory() / "experiments").glob("*.yaml"))
    return names if scale is None else [name for name in names if scale in load_experiment(name)["scales"]]


def load_experiment(name: str) -> dict[str, Any]:
    """Read and check `config/experiments/<name>.yaml`. Raises ConfigurationError naming file, key and what is wrong."""
    return load_experiment_document(name).data


def load_experiment_document(name: str) -> Document:
    """Like `load_experiment`, but with line numbers, for callers that check more than names."""
    path = config_directory() / "experiments" / f"{name}.yaml"
    if not path.exists():
        raise ConfigurationError(f"no experiment {name!r}", where=path, next_step=suggestion(name, experiment_names()))
    document = load_validated_document(path, program_file("schemas", "experiment.schema.json"))
    configuration = document.data
    if configuration["name"] != name:
        raise ConfigurationError(f"name: {configuration['name']!r} does not match the file's name {name!r}", where=path)
    for key, known in (
        ("protocol", plugins.module_names("replay.protocols")),
        ("tool", plugins.load("replay", "tools").tool_names()),
    ):
        if configuration[key].replace("-", "_") not in known:
            raise ConfigurationError(
                f"{key}: there is no {configuration[key]!r}",
                where=document.where(key),
                next_step=suggestion(configuration[key], known),
            )
    return document
