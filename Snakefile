# Replay as a Snakemake workflow: from a cluster to a talk's tables, in two invocations.
#
#   snakemake --cores all                           derive every data set that has raw output
#   snakemake --cores all --config data=NAME        derive one data set, or with experiment=NAME one experiment of it
#   snakemake -s workflow/Snakefile --config plan_file=FILE   measure the blocks of a plan, as `replay measure` does
#   snakemake --cores all pages                     write the page of `replay report` of each data set
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

from replay.base.paths import DERIVING, JUDGING, ROOT, program_digest
from replay.base.snakemake import rule_path
from replay.evidence.data_set import SEALED_BLOCK


include: "workflow/rules/common.smk"


# A shell's word, also of a path with a space.
PYTHON = shlex.quote(sys.executable)


wildcard_constraints:
    data="|".join(DATA_SETS) or "(?!)",
    experiment=r"[a-z0-9-]+",
    block=r"\d\d+",
    plan=r"[0-9a-f]{12}",


rule all:
    input:
        list(map(rule_path, TO_MEASURE))
        if PLAN
        else [
            *(of_experiments(file, data) for data in DATA_SETS for file in ("tidy.csv", "ratios.csv")),
            *expand(f"{DATA_SET}/{{file}}", data=DATA_SETS, file=[*DESCRIBED, *REPORTED]),
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
            f"exec setpriv --pdeathsig TERM -- {PYTHON} -m replay.measure.block --log {{log}}"
            f" --plan-file {shlex.quote(config['plan_file'])} --experiment {{wildcards.experiment}}"
            " --block {wildcards.block} --plan {wildcards.plan}"


# One job a data set: importing pandas takes longer than deriving most experiments. Outputs are `update`, so that derived
# files stay in place while they are derived again: the deck may be reading them.
for data, names in SELECTED.items():

    rule:
        name:
            f"derive_{data}"
        input:
            evidence(data, names),
            configured(names),
        output:
            tidy=[update(path) for path in of_experiments("tidy.csv", data, names)],
            ratios=[
                update(report(path, category="Ratios", labels={"data set": data, "of": name}))
                for name in names
                for path in of_experiments("ratios.csv", data, [name])
            ],
            entries=[update(path) for path in of_experiments("experiment.json", data, names)],
        log:
            f".replay/logs/derive-{data}.log",
        params:
            program=program_digest(*DERIVING),
            content=content_of([*evidence(data, names), *configured(names)]),
        message:
            f"Derive {data} from its raw output: {', '.join(names)}"
        script:
            "workflow/scripts/derive.py"


# Verdicts and answer are made in the same job as what describes them: one that somebody edited is never described.
rule describe:
    input:
        lambda wildcards: of_experiments("experiment.json", wildcards.data),
        CONFIGURED,
        campaign,
        beside,
    output:
        [update(f"{DATA_SET}/{file}") for file in DESCRIBED],
        [
            update(report(f"{DATA_SET}/{file}", category=category, labels={"data set": "{data}"}))
            for file, category in REPORTED.items()
        ],
    log:
        ".replay/logs/describe-{data}.log",
    params:
        program=program_digest(*JUDGING),
        content=lambda wildcards: content_of([*CONFIGURED, *campaign(wildcards)]),
    message:
        "Judge the claims, answer the question, and describe {wildcards.data}"
    script:
        "workflow/scripts/describe.py"


# The page of `replay report`, with its pictures, for `snakemake pages` and then `snakemake --report FILE pages`.
rule pages:
    input:
        expand(".replay/pages/{data}.html", data=DATA_SETS),


rule page:
    input:
        lambda wildcards: tables_of([BENCHMARKS / wildcards.data], *DESCRIBED, *REPORTED),
    output:
        report(".replay/pages/{data}.html", category="Pages", labels={"data set": "{data}"}),
    log:
        ".replay/logs/page-{data}.log",
    message:
        "Write the page that reports {wildcards.data}"
    shell:
        f"{PYTHON} -m replay report --data {{wildcards.data}} --out {{output}} >{{log}} 2>&1"
        " || {{ cat {log}; exit 1; }}"


# Without the deck, there is nothing to publish.
if ROOT is not None:

    rule site:
        input:
            described=expand(f"{DATA_SET}/datapackage.json", data=DATA_SETS),
            deck=[
                rule_path(path)
                for pattern in (
                    "index.html",
                    "slides/**/*",
                    "css/*",
                    "deck/**/*.js",
                    "scripts/build.mjs",
                    "scripts/deck/**/*.js",
                    "plugins/*/src/**/*.js",
                )
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
