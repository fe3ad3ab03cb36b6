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

from replay.base.paths import ROOT
from replay.base.snakemake import rule_path
from replay.base.version import DERIVING, JUDGING, program_digest
from replay.evidence.data_set import SEALED_BLOCK


include: "workflow/rules/common.smk"


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
            *(
                path
                for data in DATA_SETS
                for file in ("tidy.csv", "ratios.csv")
                for path in of_experiments(file, data)
            ),
            *expand(
                f"{DATA_SET}/{{file}}", data=DATA_SETS, file=["manifest.json", "recording.json", "datapackage.json"]
            ),
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
    log:
        ".replay/logs/derive-{data}-{experiment}.log",
    wildcard_constraints:
        experiment="|".join(SELECTED) or "(?!)",
    params:
        program=program_digest(*DERIVING),
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
        log:
            ".replay/logs/claims-{data}.log",
        params:
            program=program_digest(*JUDGING),
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
        log:
            ".replay/logs/answer-{data}.log",
        params:
            program=program_digest(*JUDGING),
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
    log:
        ".replay/logs/describe-{data}.log",
    params:
        program=program_digest(*JUDGING),
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
                for pattern in (
                    "index.html",
                    "config/talk.yaml",
                    "slides/**/*",
                    "css/*",
                    "deck/**/*.js",
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
