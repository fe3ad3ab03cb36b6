# Replay as a Snakemake workflow: from a cluster to a talk's tables, in two invocations.
#
#   snakemake                                        derive every data set that has raw output
#   snakemake --config data=NAME experiment=NAME     derive one data set, or one experiment of it
#   snakemake --config plan_file=FILE                measure the blocks of a plan, which `replay measure` writes
#   snakemake site                                   build the published site into dist/
#
# Only a plan triggers measurements. A block's path contains its plan's digest, and its rule has neither inputs nor
# parameters, so an edited script, comment, timestamp or unrelated key never triggers a new measurement. A sealed block
# matches no rule, so no option of Snakemake can remove it or measure it again.
#
# Content decides what is due, as in `replay derive`: see workflow/notes.py. If the notes say that nothing has changed,
# a step's inputs are `ancient`. If they say that something has, the step gets an input that the rule `changed` makes.
# config/README.md lists every key.

import shlex
import sys

from snakemake.exceptions import WorkflowError

from replay.base.errors import ReplayError
from replay.base.paths import ROOT
from replay.derive.part import PART, RATIOS
from replay.claims.workflow import settings as replay_settings
from replay.claims.workflow.notes import (
    ANSWER_NOTE,
    ANSWERED,
    CLAIMS_NOTE,
    DESCRIBED,
    DESCRIPTION_NOTE,
    JUDGED,
)

try:
    SETTINGS = replay_settings.read_settings(config)
except ReplayError as error:
    raise WorkflowError(str(error))

# This includes the notes: in a fresh clone, they are what is missing.
WHOLE = [
    *DESCRIBED,
    DESCRIPTION_NOTE,
    *([*JUDGED, CLAIMS_NOTE] if replay_settings.claims_files() else []),
    *([*ANSWERED, ANSWER_NOTE] if replay_settings.answer_files() else []),
]
MARKERS = SETTINGS.markers()
JOB = f"{sys.executable} -m replay.claims.workflow.job"
of_data_set = replay_settings.data_set_pattern
of_experiment = replay_settings.experiment_pattern


wildcard_constraints:
    data=r"[a-z0-9][a-z0-9-]*",
    experiment=r"[a-z][a-z0-9-]*",
    block=r"\d\d+",
    plan=r"[0-9a-f]{12}",


onsuccess:
    replay_settings.remove(MARKERS)


onerror:
    replay_settings.remove(MARKERS)


rule all:
    input:
        SETTINGS.planned_blocks()
        if SETTINGS.plan
        else [*(SETTINGS.described(file) for file in WHOLE), *MARKERS],
    message:
        "Everything is up to date"


if SETTINGS.plan:

    rule measure_block:
        output:
            # `update`, because a block that another process has sealed must not be removed; its job then does nothing.
            update(replay_settings.block_pattern()),
        log:
            ".replay/logs/measure-{data}-{experiment}-{block}-{plan}.log",
        wildcard_constraints:
            data=SETTINGS.planned_pattern(),
        resources:
            ceph_slot=1,
        message:
            "Measure {wildcards.experiment}, block {wildcards.block}, into {wildcards.data}"
        # A block never outlives the Snakemake that started it.
        shell:
            f"exec setpriv --pdeathsig TERM -- {sys.executable} -m replay.measure.block --log {{log}}"
            f" --plan-file {shlex.quote(SETTINGS.plan_file)} --experiment {{wildcards.experiment}} --block {{wildcards.block}}"
            " --plan {wildcards.plan}"


rule changed:
    output:
        touch(replay_settings.CHANGED),
    message:
        "Derive again: {wildcards.step}"


# Outputs are `update`, so that derived files stay in place while they are derived again: the deck may be reading them.
rule derive_experiment:
    input:
        lambda wildcards: SETTINGS.sources(wildcards.data, wildcards.experiment),
    output:
        tidy=update(of_experiment("tidy.csv")),
        ratios=update(
            report(
                of_experiment(RATIOS),
                category="Ratios",
                labels={"data set": "{data}", "of": "{experiment}"},
            )
        ),
        part=update(of_experiment(PART)),
    log:
        ".replay/logs/derive-{data}-{experiment}.log",
    message:
        "Derive {wildcards.experiment} of {wildcards.data} from its raw output"
    shell:
        f"{JOB} derive --data {{wildcards.data}} --experiment {{wildcards.experiment}} --log {{log}}"


if replay_settings.claims_files():

    rule claims:
        input:
            lambda wildcards: SETTINGS.judged_from(wildcards.data),
        output:
            note=update(of_data_set(CLAIMS_NOTE)),
            json=update(of_data_set("claims.json")),
            csv=update(
                report(
                    of_data_set("claims.csv"),
                    category="Claims",
                    labels={"data set": "{data}"},
                )
            ),
        log:
            ".replay/logs/claims-{data}.log",
        message:
            "Judge every claim against {wildcards.data}"
        shell:
            f"{JOB} judge --data {{wildcards.data}} --log {{log}}"


if replay_settings.answer_files():

    rule answer:
        input:
            lambda wildcards: SETTINGS.answered_from(wildcards.data),
        output:
            note=update(of_data_set(ANSWER_NOTE)),
            csv=update(
                report(
                    of_data_set("answer.csv"),
                    category="Answer",
                    labels={"data set": "{data}"},
                )
            ),
        log:
            ".replay/logs/answer-{data}.log",
        message:
            "Answer what each mode loses and costs, by {wildcards.data}"
        shell:
            f"{JOB} answer --data {{wildcards.data}} --log {{log}}"


rule describe:
    input:
        lambda wildcards: SETTINGS.described_from(wildcards.data),
    output:
        note=update(of_data_set(DESCRIPTION_NOTE)),
        manifest=update(
            report(
                of_data_set("manifest.json"),
                category="Data sets",
                labels={"data set": "{data}"},
            )
        ),
        recording=update(of_data_set("recording.json")),
        datapackage=update(of_data_set("datapackage.json")),
    log:
        ".replay/logs/describe-{data}.log",
    message:
        "Describe {wildcards.data}: manifest, recording, data package"
    shell:
        f"{JOB} describe --data {{wildcards.data}} --log {{log}}"


# Without the deck, there is nothing to publish.
if ROOT is not None:

    rule site:
        input:
            described=[SETTINGS.described(file) for file in WHOLE],
            deck=replay_settings.deck_files(ROOT),
        output:
            update("dist/index.html"),
        log:
            ".replay/logs/site.log",
        params:
            data=[f"--data={name}" for name in SETTINGS.data_sets if SETTINGS.named],
        message:
            "Build the published site into dist/"
        shell:
            f"node {shlex.quote(str(ROOT))}/scripts/build.mjs --out dist {{params.data}} >{{log}} 2>&1"
            " || {{ cat {log}; exit 1; }}"
