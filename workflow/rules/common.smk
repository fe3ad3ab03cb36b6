# What the rules are about: data sets, experiments, the blocks of a plan, and the files that belong to them.

from contextlib import suppress
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

from replay.base.errors import ConfigurationError
from replay.base.paths import benchmarks_directory, config_directory, program_file
from replay.base.programs import older_releases
from replay.base.snakemake import rule_path
from replay.claims.judge import campaign_folders
from replay.design.configuration import answer_path, claims_path
from replay.design.design import read_plan_file
from replay.evidence.data_set import data_sets_in, experiments_in, recorded_in, sealed_block, sealed_blocks
from replay.evidence.durable import sha256

# A data set may be called by a number, which `--config` takes for one.
config |= {key: str(config[key]) for key in ("data", "plan_file") if key in config}
validate(config, schema=str(program_file("schemas", "workflow.schema.json")))

BENCHMARKS = benchmarks_directory()
DATA_SET = rule_path(BENCHMARKS / "{data}")
EXPERIMENT = rule_path(BENCHMARKS / "{data}" / "{experiment}")
# What decides verdicts, answer and description, besides the experiments.
CONFIGURED = sorted(
    rule_path(path)
    for path in (*config_directory().glob("experiments/*.yaml"), claims_path(), answer_path())
    if path.exists()
)
# The files about a whole data set, and under which heading the report shows some. A talk may lack claims or answer.
DESCRIBED = ["recording.json", "datapackage.json", *(["claims.json"] if claims_path().exists() else [])]
REPORTED = {
    "manifest.json": "Data sets",
    **({"claims.csv": "Claims"} if claims_path().exists() else {}),
    **({"answer.csv": "Answer"} if answer_path().exists() else {}),
}

PLAN = read_plan_file(Path(config["plan_file"])) if "plan_file" in config else None
PLANNED = [(BENCHMARKS / PLAN.data_set / one.experiment / "raw", one) for one in PLAN.blocks] if PLAN else []
TO_MEASURE = {sealed_block(raw, one.block, one.plan): one.plan for raw, one in PLANNED}
TO_MEASURE = {path: plan for path, plan in TO_MEASURE.items() if not path.exists()}

DATA_SETS = [config["data"]] if "data" in config else [PLAN.data_set] if PLAN else data_sets_in(BENCHMARKS)
EXPERIMENTS = {data: set(experiments_in(BENCHMARKS / data)) for data in DATA_SETS}
for raw, block in PLANNED:
    EXPERIMENTS.get(raw.parents[1].name, set()).add(block.experiment)
NAMED = [config["experiment"]] if isinstance(config.get("experiment"), str) else config.get("experiment", [])
unknown = [data for data, names in EXPERIMENTS.items() if not names] or sorted(
    {*NAMED}.difference(*EXPERIMENTS.values())
)
if unknown:
    raise WorkflowError(f"there is no raw output of {', '.join(map(repr, unknown))}")


def of_experiments(file, data, names=None):
    return expand(f"{EXPERIMENT}/{file}", data=data, experiment=sorted(EXPERIMENTS[data]) if names is None else names)


def is_derived(data, name):
    files = ("tidy.csv", "ratios.csv", "experiment.json")
    return all((BENCHMARKS / data / name / file).exists() for file in files)


# Where experiments are named, the others are taken as they are, if they have been derived: no rule makes their tables.
SELECTED = {
    data: [name for name in sorted(names) if not NAMED or name in NAMED or not is_derived(data, name)]
    for data, names in EXPERIMENTS.items()
}
SELECTED = {data: names for data, names in SELECTED.items() if names}


def evidence(data, names):
    """The sealed blocks, also those of the plan, and the digests of what was recorded, also in open blocks.

    If an experiment is measured first, its open blocks do not count: they will have been sealed.
    """
    found = []
    for raw in (BENCHMARKS / data / name / "raw" for name in names):
        measured_first = [path for path in TO_MEASURE if path.parent == raw]
        found += [path for path in recorded_in(raw) if path.parent == raw or not measured_first]
        found += {*sealed_blocks(raw), *measured_first}
    return sorted(map(rule_path, found))


def configured(names):
    paths = (config_directory() / "experiments" / f"{name}.yaml" for name in names)
    return [rule_path(path) for path in paths if path.exists()]


def campaign(wildcards):
    return [rule_path(path) for path in (BENCHMARKS / wildcards.data).glob("campaign.json")]


def content_of(paths):
    """The digest of inputs; those of packs are in SHA256SUMS.

    As a parameter, because Snakemake passes over an input that changed and is older than what was derived from it: it
    was put back or copied with its time, or the clock was set back.
    """
    return sha256("".join(sha256(Path(path).read_bytes()) for path in paths if not path.endswith(".tar.gz")).encode())


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


def beside(wildcards):
    """What a data set is compared with: older releases beside it, and the campaigns of its release that ship.

    There are no campaigns if config/claims.yaml is invalid, which the rule then reports.
    """
    data_set = BENCHMARKS / wildcards.data
    compared = tables_of(older_releases(data_set), "manifest.json")
    with suppress(ConfigurationError):
        compared += tables_of(campaign_folders(data_set))
    return compared
