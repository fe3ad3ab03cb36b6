# What the rules are about: data sets, experiments, the blocks of a plan, and the files that belong to them.

from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

from replay.base.errors import ConfigurationError
from replay.base.paths import benchmarks_directory, config_directory, program_file
from replay.base.releases import older_releases
from replay.base.snakemake import rule_path
from replay.claims.judge import campaign_folders
from replay.design.plan_file import read_plan_file
from replay.design.configuration import answer_path, claims_path
from replay.evidence.data_set import data_sets_in, experiments_in, recorded_in, sealed_block, sealed_blocks

# Snakemake reads the name of a data set as YAML, in which it may be a number.
if "data" in config:
    config["data"] = str(config["data"])
validate(config, schema=str(program_file("schemas", "workflow.schema.json")))

BENCHMARKS = benchmarks_directory()
DATA_SET = rule_path(BENCHMARKS / "{data}")
EXPERIMENT = rule_path(BENCHMARKS / "{data}" / "{experiment}")
CLAIMS = [rule_path(path) for path in [claims_path()] if path.exists()]
ANSWER = [rule_path(path) for path in [answer_path()] if path.exists()]

PLAN = read_plan_file(Path(config["plan_file"])) if "plan_file" in config else None
PLANNED = [(BENCHMARKS / PLAN.data_set / one.experiment / "raw", one) for one in PLAN.blocks] if PLAN else []
TO_MEASURE = {sealed_block(raw, one.block, one.plan): one.plan for raw, one in PLANNED}
TO_MEASURE = {path: plan for path, plan in TO_MEASURE.items() if not path.exists()}

DATA_SETS = [config["data"]] if "data" in config else [PLAN.data_set] if PLAN else data_sets_in(BENCHMARKS)
EXPERIMENTS = {
    data: sorted(
        {
            *experiments_in(BENCHMARKS / data),
            *(one.experiment for raw, one in PLANNED if BENCHMARKS / data in raw.parents),
        }
    )
    for data in DATA_SETS
}
NAMED = [config["experiment"]] if isinstance(config.get("experiment"), str) else config.get("experiment", [])
for name, known in (
    *((data, [data] if names else []) for data, names in EXPERIMENTS.items()),
    *((name, sum(EXPERIMENTS.values(), [])) for name in NAMED),
):
    if name not in known:
        raise WorkflowError(f"there is no raw output of {name!r}")


def of_experiments(file, data):
    return expand(f"{EXPERIMENT}/{file}", data=data, experiment=EXPERIMENTS[data])


def is_derived(data, experiment):
    files = ("tidy.csv", "ratios.csv", "experiment.json")
    return all((BENCHMARKS / data / experiment / file).exists() for file in files)


# Where experiments are named, the others are taken as they are: no rule makes their tables.
SELECTED = {
    name
    for data, names in EXPERIMENTS.items()
    for name in names
    if not NAMED or name in NAMED or not is_derived(data, name)
}


def evidence(wildcards):
    """The sealed blocks, also those of the plan, and the digests of what was recorded, also in open blocks.

    If the experiment is measured first, its open blocks do not count: they will have been sealed.
    """
    raw = BENCHMARKS / wildcards.data / wildcards.experiment / "raw"
    measured_first = [path for path in TO_MEASURE if path.parent == raw]
    recorded = [path for path in recorded_in(raw) if path.parent == raw or not measured_first]
    return sorted({rule_path(path) for path in (*recorded, *sealed_blocks(raw), *measured_first)})


def configured(experiment="*"):
    return sorted(map(rule_path, (config_directory() / "experiments").glob(f"{experiment}.yaml")))


def campaign(wildcards):
    return [rule_path(path) for path in (BENCHMARKS / wildcards.data).glob("campaign.json")]


def entries(wildcards):
    """The experiments' entries in the manifest. They hold the digests of the tables, and so stand for them."""
    return of_experiments("experiment.json", wildcards.data)


def tables_of(folders, *others):
    """The tables of whole data sets, and other files of theirs: made first if this run makes them."""
    files = []
    for path in folders:
        if path.name in DATA_SETS:
            files += expand(f"{DATA_SET}/{{file}}", data=path.name, file=others)
            files += of_experiments("tidy.csv", path.name)
        else:
            files += [rule_path(file) for name in (*others, "*/tidy.csv") for file in sorted(path.glob(name))]
    return files


def older(wildcards):
    """What a description compares with: the data sets of older releases beside this one."""
    return tables_of(older_releases(BENCHMARKS / wildcards.data), "manifest.json")


def campaigns(wildcards):
    """What claims are judged by, besides the data set itself: the campaigns of its release that ship.

    There are none if config/claims.yaml is invalid, which the rule then reports.
    """
    try:
        return tables_of(campaign_folders(BENCHMARKS / wildcards.data))
    except ConfigurationError:
        return []
