# Replay: measure a Ceph cluster, derive its tables. Two invocations, never one.
#
#   snakemake measure --config site=sandbox data=local scale=quick [experiment=NAME] [blocks=N]
#   snakemake derive  --config data=local
#
# `replay measure` calls the first, and `replay derive` the program behind the second. Everything that a measurement depends on stands in its path: the
# plan's digest names the cells of a block, so that no edited script, comment, timestamp or unrelated key measures again.

import sys

from replay.base.paths import benchmarks_directory

BENCHMARKS = str(benchmarks_directory())
DATA = config.get("data", "local")


wildcard_constraints:
    data=r"[a-z0-9][a-z0-9-]*",
    experiment=r"[a-z][a-z0-9-]*",
    block=r"\d+",
    plan=r"[0-9a-f]{12}",


localrules:
    derive,


rule derive:
    log:
        f".replay/logs/derive-{DATA}.log",
    message:
        "Derive every table of {DATA} from its raw output"
    shell:
        f"{sys.executable} -m replay.derive --data {DATA} 2>&1 | tee {{log}}"


# Measuring is defined only where it was asked for by naming a site.
if "site" in config:

    from replay.config.experiments import experiment_names
    from replay.cluster.site import load_site
    from replay.preflight.plan import plans

    PLANS = plans(
        load_site(config["site"]),
        DATA,
        config.get("scale", "quick"),
        [config["experiment"]] if "experiment" in config else experiment_names(),
        int(config["blocks"]) if "blocks" in config else None,
    )
    for plan in PLANS:
        plan.write()

    rule measure:
        input:
            [str(plan.receipt) for plan in PLANS],
        message:
            "All blocks of {DATA} are measured"

    rule measure_block:
        output:
            f"{BENCHMARKS}/{{data}}/{{experiment}}/raw/block-{{block}}/receipt-{{plan}}.json",
        log:
            ".replay/logs/{data}-{experiment}-{block}-{plan}.log",
        retries: 0
        resources:
            ceph_slot=1,
        message:
            "Measure {wildcards.experiment}, block {wildcards.block}, into {wildcards.data}"
        # A block never outlives the Snakemake that started it.
        shell:
            f"exec setpriv --pdeathsig TERM -- {sys.executable} -m replay.measure.block --log {{log}}"
            " --data {wildcards.data} --experiment {wildcards.experiment}"
            " --block {wildcards.block} --plan {wildcards.plan}"
