# Replay as a Snakemake workflow: from a cluster to a talk's tables, in two invocations.
#
#   snakemake --cores all                           derive every data set that has raw output
#   snakemake --cores all --config data=NAME        derive one data set, or with experiment=NAME one experiment of it
#   snakemake -s workflow/Snakefile --config plan_file=FILE   measure the blocks of a plan, as `replay measure` does
#   snakemake --cores all site                      build the published site into dist/
#
# workflow/Snakefile is this file with the profile in workflow/profiles/default, which measuring needs.
#
# Only a plan triggers measurements. A block's path contains its plan's digest, and its rule has neither inputs nor
# parameters, so an edited script, comment, timestamp or unrelated key never triggers a new measurement. A sealed block
# matches no rule, so no option of Snakemake can remove it or measure it again.
#
# A table is derived again if its evidence or configuration has changed, or the code that derives it (`program`).
# config/README.md lists every key.

import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

from replay.base.paths import ROOT, benchmarks_directory, config_directory, program_file
from replay.base.releases import older_releases
from replay.base.snakemake import rule_path
from replay.base.version import DERIVING, JUDGING, program_digest
from replay.claims.judge import campaign_folders
from replay.design.plan_file import read_plan_file
from replay.design.configuration import answer_path, claims_path
from replay.evidence.data_set import SEALED_BLOCK, data_sets_in, experiments_in, recorded_in, sealed_block, sealed_blocks

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
    data: sorted({*experiments_in(BENCHMARKS / data), *(one.experiment for raw, one in PLANNED if BENCHMARKS / data in raw.parents)})
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
            files += [*expand(f"{DATA_SET}/{{file}}", data=path.name, file=others), *of_experiments("tidy.csv", path.name)]
        else:
            files += [rule_path(file) for name in (*others, "*/tidy.csv") for file in sorted(path.glob(name))]
    return files


def older(wildcards):
    """What a description compares with: the data sets of older releases beside this one."""
    return tables_of(older_releases(BENCHMARKS / wildcards.data), "manifest.json")


def campaigns(wildcards):
    """What claims are judged by, besides the data set itself: the campaigns of its release that ship."""
    return tables_of(campaign_folders(BENCHMARKS / wildcards.data))


wildcard_constraints:
    data="|".join(DATA_SETS) or "(?!)",
    experiment=r"[a-z][a-z0-9-]*",
    block=r"\d\d+",
    plan=r"[0-9a-f]{12}",


rule all:
    input:
        list(map(rule_path, TO_MEASURE))
        if PLAN
        else [
            *(path for data in DATA_SETS for file in ("tidy.csv", "ratios.csv") for path in of_experiments(file, data)),
            *expand(f"{DATA_SET}/{{file}}", data=DATA_SETS, file=["manifest.json", "recording.json", "datapackage.json"]),
            *expand(f"{DATA_SET}/{{file}}", data=DATA_SETS, file=["claims.json", "claims.csv"] if CLAIMS else []),
            *expand(f"{DATA_SET}/{{file}}", data=DATA_SETS, file=["answer.csv"] if ANSWER else []),
        ],
    message:
        "Everything is up to date"


if PLAN:

    rule measure_block:
        output:
            # `update`, because a block that another process has sealed must not be removed; its job then does nothing.
            update(f"{EXPERIMENT}/raw/{SEALED_BLOCK}"),
        log:
            ".replay/logs/measure-{data}-{experiment}-{block}-{plan}.log",
        wildcard_constraints:
            data=PLAN.data_set,
            plan="|".join(TO_MEASURE.values()) or "(?!)",
        resources:
            ceph_slot=1,
        message:
            "Measure {wildcards.experiment}, block {wildcards.block}, into {wildcards.data}"
        # A block never outlives the Snakemake that started it.
        shell:
            f"exec setpriv --pdeathsig TERM -- {sys.executable} -m replay.measure.block --log {{log}}"
            f" --plan-file {shlex.quote(config['plan_file'])} --experiment {{wildcards.experiment}}"
            " --block {wildcards.block} --plan {wildcards.plan}"


# Outputs are `update`, so that derived files stay in place while they are derived again: the deck may be reading them.
rule derive_experiment:
    input:
        evidence,
        lambda wildcards: configured(wildcards.experiment),
    output:
        tidy=update(f"{EXPERIMENT}/tidy.csv"),
        ratios=update(
            report(
                f"{EXPERIMENT}/ratios.csv",
                category="Ratios",
                labels={"data set": "{data}", "of": "{experiment}"},
            )
        ),
        entry=update(f"{EXPERIMENT}/experiment.json"),
    params:
        program=program_digest(*DERIVING),
    log:
        ".replay/logs/derive-{data}-{experiment}.log",
    wildcard_constraints:
        experiment="|".join(SELECTED) or "(?!)",
    message:
        "Derive {wildcards.experiment} of {wildcards.data} from its raw output"
    script:
        "workflow/scripts/derive_experiment.py"


if CLAIMS:

    rule claims:
        input:
            entries,
            campaign,
            campaigns,
            configured(),
            CLAIMS,
        output:
            json=update(f"{DATA_SET}/claims.json"),
            csv=update(
                report(
                    f"{DATA_SET}/claims.csv",
                    category="Claims",
                    labels={"data set": "{data}"},
                )
            ),
        params:
            program=program_digest(*JUDGING),
        log:
            ".replay/logs/claims-{data}.log",
        message:
            "Judge every claim against {wildcards.data}"
        script:
            "workflow/scripts/claims.py"


if ANSWER:

    rule answer:
        input:
            entries,
            campaign,
            configured(),
            ANSWER,
        output:
            update(
                report(
                    f"{DATA_SET}/answer.csv",
                    category="Answer",
                    labels={"data set": "{data}"},
                )
            ),
        params:
            program=program_digest(*JUDGING),
        log:
            ".replay/logs/answer-{data}.log",
        message:
            "Answer what each mode loses and costs, by {wildcards.data}"
        script:
            "workflow/scripts/answer.py"


# Whatever changes verdicts or answer is an input here too. They themselves are `ancient`: describing one that somebody
# edited would declare it to be what was derived.
rule describe:
    input:
        entries,
        campaign,
        configured(),
        CLAIMS,
        ANSWER,
        older,
        claims=[ancient(f"{DATA_SET}/claims.json")] if CLAIMS else [],
        answer=[ancient(f"{DATA_SET}/answer.csv")] if ANSWER else [],
    output:
        manifest=update(
            report(
                f"{DATA_SET}/manifest.json",
                category="Data sets",
                labels={"data set": "{data}"},
            )
        ),
        recording=update(f"{DATA_SET}/recording.json"),
        datapackage=update(f"{DATA_SET}/datapackage.json"),
    params:
        program=program_digest(*JUDGING),
    log:
        ".replay/logs/describe-{data}.log",
    message:
        "Describe {wildcards.data}: manifest, recording, data package"
    script:
        "workflow/scripts/describe.py"


# Without the deck, there is nothing to publish.
if ROOT is not None:

    rule site:
        input:
            described=expand(f"{DATA_SET}/datapackage.json", data=DATA_SETS),
            deck=[
                rule_path(path)
                for pattern in ("index.html", "config/talk.yaml", "slides/**/*", "css/*", "deck/**/*.js", "plugins/*/src/**/*.js")
                for path in sorted(ROOT.glob(pattern))
                if path.is_file()
            ],
        output:
            update("dist/index.html"),
        log:
            ".replay/logs/site.log",
        params:
            data=[f"--data={name}" for name in DATA_SETS if "data" in config or PLAN],
        message:
            "Build the published site into dist/"
        shell:
            f"node {shlex.quote(str(ROOT))}/scripts/build.mjs --out dist {{params.data}} >{{log}} 2>&1"
            " || {{ cat {log}; exit 1; }}"
