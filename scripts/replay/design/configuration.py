"""Reads and checks what people wrote in config/: YAML with line numbers, experiments, claims, the answer.

Each attempt keeps a digest of each claim's content. A claim whose content has another digest was changed after its
data were known, and counts as exploratory (`claims/tables.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from replay.base.errors import ConfigurationError
from replay.base.paths import config_directory, did_you_mean, program_file, suggestion
from replay.design.design import digest_of
from replay.design.needs import protocol_names

KeyPath = tuple[str | int, ...]


# libyaml parses ten times as fast as PyYAML's own parser, but a few platforms lack it.
class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML 1.2's plain scalars: `22:00`, `on`, `no` and dates stay text; `1e6` is a number."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (as PyYAML declares it)


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9_]*)|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
):
    _characters = ["" if character == "\0" else character for character in _first]
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), _characters)


@dataclass(frozen=True)
class Document:
    """A parsed file: its data, and the line of each key."""

    path: Path
    data: Any
    lines: Mapping[KeyPath, int]

    def where(self, *keys: str | int) -> str:
        """Return `file:line` of the key path, or of the nearest key above it."""
        path = tuple(keys)
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.path}:{self.lines.get(path, 1)}"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigurationError("there is no such file", where=path, next_step=_similar_files(path)) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigurationError("is not UTF-8", where=f"{path}:{line}", next_step="save it as UTF-8") from error
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error}", where=path) from error


def _parse(path: Path, text: str) -> Document:
    lines: dict[KeyPath, int] = {}
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is not None:
            _index(node, (), lines, path)
        data = loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        place = f"{path}:{line}"
        # What is missing at the end of a file is in none of its lines.
        if any(re.match(r" *\t", found) for found in text.splitlines()[line - 1 : line]):
            what, next_step = "a tab character; YAML is indented by spaces only", "replace the tab with spaces"
        else:
            what, next_step = str(error.problem), "check the indentation and quotes there"
        raise ConfigurationError(f"is not valid YAML: {what}", where=place, next_step=next_step) from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigurationError(f"is not valid YAML: {error}", where=path) from error
    finally:
        loader.dispose()
    return Document(path, data, lines)


def load_validated_document(path: Path, schema_path: Path) -> Document:
    """Return a YAML file after checking it against the schema.

    Raises ConfigurationError if it is missing, is not YAML, repeats a key, or does not follow the schema.
    """
    document = parse_validated(path, _read(path), schema_path)
    return replace(document, data=deepcopy(document.data))  # callers may change their copy


@lru_cache(maxsize=256)
def parse_validated(path: Path, text: str, schema_path: Path) -> Document:
    """Return the text of a file after checking it against the schema. Raises ConfigurationError.

    Each text is parsed only once, because deriving needs every experiment several times. Do not change what it returns.
    """
    document = _parse(path, text)
    validate(document, _schema(schema_path))
    return document


def validate(document: Document, schema: Mapping[str, Any]) -> None:
    """Raise one ConfigurationError that lists the violations (at most ten), in the order of the file."""
    errors = list(Draft202012Validator(schema).iter_errors(document.data))
    if not errors:
        return
    # jsonschema reports each missing key separately, but each message covers them all.
    violations = list(dict.fromkeys(item for error in errors for item in _explain(error)))
    violations.sort(key=lambda item: document.lines.get(item[0], document.lines.get(item[0][:-1], 1)))
    (first_path, first_text, first_hint), rest = violations[0], violations[1:10]
    more = "".join(f"\n  {document.where(*path)}: {text}" + (f" ({hint})" if hint else "") for path, text, hint in rest)
    if len(violations) > 10:
        more += f"\n  and {len(violations) - 10} more"
    raise ConfigurationError(first_text + more, where=document.where(*first_path), next_step=first_hint)


def _index(node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], file: Path) -> None:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise ConfigurationError(
                    "a key is a mapping or a list, not text",
                    where=f"{file}:{line}",
                    next_step='put a text with braces or brackets in quotes, such as "{{ name }}"',
                )
            if key.value in seen:
                raise ConfigurationError(
                    f"the key {key.value!r} appears twice", where=f"{file}:{line}", next_step="remove one of the two"
                )
            seen.add(key.value)
            lines[(*path, key.value)] = line
            _index(value, (*path, key.value), lines, file)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            _index(item, (*path, number), lines, file)


@lru_cache(maxsize=8)
def _schema(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _explain(error: ValidationError) -> list[tuple[KeyPath, str, str]]:
    """Return (key path, problem, suggestion) for each problem in one violation."""
    error = best_match([error]) or error
    path = tuple(error.absolute_path)
    name = _dotted(path)
    value = error.instance
    match error.validator:
        case "additionalProperties" if isinstance(value, Mapping):
            known = list(error.schema.get("properties", {}))
            unknown = [key for key in value if key not in known]
            return [
                (
                    (*path, key),
                    f"{_dotted((*path, key))}: unknown key; expected one of {', '.join(known) or 'none'}",
                    did_you_mean(str(key), known),
                )
                for key in unknown
            ]
        case "required":
            lacking = [key for key in error.validator_value if key not in value]
            return [((*path, key), f"{_dotted((*path, key))}: this key is missing", "") for key in lacking]
        case "enum":
            options = [str(option) for option in error.validator_value]
            return [(path, f"{name}: {value!r} is not one of {', '.join(options)}", did_you_mean(str(value), options))]
        # Without a context, more than one of the alternatives is met.
        case "oneOf" if all(alternative.validator == "required" for alternative in error.context):
            either = " or ".join(", ".join(option.get("required", ("…",))) for option in error.validator_value)
            present = "none" if error.context else "more than one"
            return [(path, f"{name}: expected either {either}, found {present}", "")]
        case "type":
            return [(path, f"{name}: expected {_types(error.validator_value)}, found {_shown(value)}", "")]
    expected = error.schema.get("description") if isinstance(error.schema, Mapping) else None
    return [(path, f"{name}: {error.message}", f"expected: {expected}" if expected else "")]


def _dotted(path: Iterable[str | int]) -> str:
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
    return text or "the file"


def _types(names: str | Sequence[str]) -> str:
    words = {"object": "a mapping", "array": "a list", "string": "text", "integer": "a whole number", "null": "nothing"}
    words |= {"number": "a number", "boolean": "true or false"}
    return " or ".join(words[name] for name in ([names] if isinstance(names, str) else names))


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "…"


def _similar_files(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent} either"
    names = sorted(other.stem for other in path.parent.glob(f"*{path.suffix}"))
    return suggestion(path.stem, names) if names else ""


# Experiments, claims and the answer; claims are registered before their data ------------------------------------------


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
    for key, known in (("protocol", protocol_names()), ("tool", import_module("replay.tools").tool_names())):
        if configuration[key].replace("-", "_") not in known:
            raise ConfigurationError(
                f"{key}: there is no {configuration[key]!r}",
                where=document.where(key),
                next_step=suggestion(configuration[key], known),
            )
    return document


def claims_path() -> Path:
    """Return the path of the file of the claims. A talk without this file makes no claims."""
    return config_directory() / "claims.yaml"


def load_claims_document() -> Document:
    """Read and check the file of the claims. Raises ConfigurationError naming file, key and what is wrong."""
    return load_validated_document(claims_path(), program_file("schemas", "claims.schema.json"))


def configured_claims() -> list[Mapping[str, Any]]:
    """Return the claims; none for a talk without them. Raises ConfigurationError if their file is invalid."""
    return load_claims_document().data["claims"] if claims_path().exists() else []


def answer_path() -> Path:
    """Return the path of the file that says where the figures in answer.csv come from. A talk may have none."""
    return config_directory() / "answer.yaml"


def load_answer_document() -> Document:
    """Read and check the file. Raises ConfigurationError naming file, key and what is wrong."""
    return load_validated_document(answer_path(), program_file("schemas", "answer.schema.json"))


#: The sentence, and the keys that decide its verdict. A claim's chart, its source and its reasons may change.
_CONTENT = ("id", "sentence", "experiment", "metric", "conditions")
_PRESUPPOSITION = ("that", "of", "decides")


def claim_digest(claim: Mapping[str, Any]) -> str:
    """Return the digest of one entry of `claims` in config/claims.yaml: 12 hexadecimal digits."""
    presupposes = [
        {key: presupposition[key] for key in _PRESUPPOSITION if key in presupposition}
        for presupposition in claim.get("presupposes", ())
    ]
    return digest_of({**{key: claim[key] for key in _CONTENT}, "presupposes": presupposes})


def claims_to_register(experiment: str) -> dict[str, str]:
    """Return claim id to present digest for the claims about an experiment; empty for a talk without claims.

    Raises ConfigurationError if config/claims.yaml is invalid.
    """
    return {claim["id"]: claim_digest(claim) for claim in configured_claims() if claim["experiment"] == experiment}


def claims_that_presuppose(facts: Collection[str]) -> list[tuple[str, str, str]]:
    """Return id and experiment of each claim that presupposes one of these facts, and which verdict that decides.

    The verdict is `any`, `refutation` or `confirmation`, as in the file of the claims; empty for a talk without claims.
    Raises ConfigurationError if that file is invalid.
    """
    presupposing = []
    for claim in configured_claims():
        decided = [
            presupposed.get("decides", "any")
            for presupposed in claim.get("presupposes", ())
            if presupposed["that"].split()[0] in facts
        ]
        if decided:
            presupposing.append((claim["id"], claim["experiment"], "any" if "any" in decided else decided[0]))
    return presupposing
