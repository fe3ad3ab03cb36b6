"""A fail-over trial: its steps in order, each timed and logged."""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from replay.base.clock import Waiting
from replay.base.errors import ReplayError
from replay.cluster.cluster import Cluster
from replay.cluster.running import Background
from replay.design.sizing import Write
from replay.measure.bench import Bench
from replay.protocols.drivers.tool import StepLog, client_values, cluster_values
from replay.protocols.drivers.trial_client import BLOCK_BYTES, inspect
from replay.protocols.observers.snapshots import Snapshots
from replay.protocols.targets.mirrored_pair import MirroredPair, client_argv
from replay.sandbox.interventions import SiteLoss

#: `rbd mirror image promote` ends with these until the other side's demotion arrives: EBUSY if the journal
#: is mirrored ("demotion is not propagated yet"), EROFS if snapshots are.
NOT_YET = (16, 30)
PROMOTE_PATIENCE_SECONDS = 120.0
#: A takeover that hangs needs some 50 s: the patience of its plan, and 30 s until the killed daemon's lock expires.
FIRST_WRITE_PATIENCE_SECONDS = 80.0
#: In a stretch cluster, monitors and OSDs first agree that a site is gone, and the lost client's lock expires.
STRETCH_PATIENCE_SECONDS = 240.0
#: A stopped OSD must continue soon: after 150 s, its threads count as hung and it aborts.
LOST_SITE_PATIENCE_SECONDS = 100.0


@dataclass(frozen=True)
class TrialPlan:
    """What a trial does. `kind` is planned or forced. Without mirror snapshots, the snapshot interval is None.

    The first snapshot is due `first_snapshot_seconds` after the writer's start, or after one interval if that is None.
    In a stretch cluster, nothing is promoted: the second site has the image, and writes to it once the first is gone.
    """

    kind: str
    seed: int
    write_seconds: float
    writes_per_second: float
    client_options: dict[str, str]
    snapshot_interval_seconds: float | None = None
    first_snapshot_seconds: float | None = None
    promote_patience_seconds: float = 20.0
    stretch: bool = False


class Trial:
    """One trial on one image that both sites have. After `run`, `log` and `acknowledgements` are its evidence.

    With a `loss`, a forced trial stops all daemons of the first site until the second site has had its first write. If
    the promotion or the first write takes longer than `plan.promote_patience_seconds`, the mirror daemon is killed: it
    is waiting for the lost site, and meanwhile holds the image. In a stretch cluster the daemons are killed.

    `second` is the cluster that takes over, as clients on the second site reach it.
    """

    def __init__(
        self, bench: Bench, pair: MirroredPair, plan: TrialPlan, second: Cluster, loss: SiteLoss | None = None
    ) -> None:
        self.bench, self.pair, self.plan, self.second, self.loss = bench, pair, plan, second, loss
        self.daemons_stopped = 0
        self.acknowledgements = b""
        self.snapshot_facts: dict[str, Any] = {}
        values = client_values(bench) | cluster_values(second, "second_")
        values |= {"image": pair.made.spec, "image_name": pair.made.name, "second_image": pair.there.spec}
        self.log = StepLog(values, bench.slot, programs=bench.programs)

    def run(self) -> None:
        """Run all steps. Raises ReplayError if one fails; the log then says which."""
        with ExitStack() as stack:
            patience = STRETCH_PATIENCE_SECONDS if self.plan.stretch else FIRST_WRITE_PATIENCE_SECONDS
            standby = self._client(stack, "write-once", self.second, patience)
            self._await(standby, lambda: b"\n" in standby.stdout(), "its connection to the second cluster")
            writer = self._client(stack, "write", self.bench.primary_cluster, 30.0)
            # Once the CSV has its header and one write, the image is open and being written to.
            self._await(writer, lambda: writer.stdout().count(b"\n") > 1, "its first write")
            self._write(stack, writer)
            if not self.plan.stretch:
                self._promote()
            self._first_write(standby)
            if self.plan.stretch:
                # Before the first site is back, whose OSDs would answer as well.
                self._verify("second")
            self._restore_first_site()
            self._account_writes()
            if self.plan.kind == "planned":
                self._verify("first")
            if not self.plan.stretch:
                self._verify("second")

    def _write(self, stack: ExitStack, writer: Background) -> None:
        """Let the writer write, take mirror snapshots at the plan's interval, and end as the trial's kind requires."""
        snapshots = Snapshots(self.log, self.plan.snapshot_interval_seconds, self.plan.first_snapshot_seconds)
        stack.callback(snapshots.close)
        # This runs first: a snapshot that was cut off ends only when the writer, which holds the image's lock, answers.
        stack.callback(writer.thaw)
        started = self.log.now()
        while (elapsed := self.log.now() - started) < self.plan.write_seconds:
            if writer.exit_status is not None:
                break
            snapshots.poll(elapsed)
            time.sleep(0.01)
        if self.plan.kind == "forced":
            lost_at = self.log.now()
            if self.loss is not None:
                # The daemons must continue before anything else: ending a client would wait for them.
                stack.callback(self.loss.restore)
                self.daemons_stopped = self.loss.destroy() if self.plan.stretch else self.loss.lose()
            writer.freeze()
            snapshots.freeze()
            self.acknowledgements = writer.stdout()
            self._written(started, writer, exit_status=writer.exit_status, said="frozen")
            stopped = {"daemons_stopped": self.daemons_stopped} if self.loss else {}
            self.log.add("disaster", lost_at, self.log.now() - lost_at, **stopped)
        else:
            snapshots.finish()
            status = writer.end()
            self.acknowledgements = writer.stdout()
            self._written(started, writer, exit_status=status, said=writer.stderr().decode(errors="replace"))
            if status != 0:
                raise ReplayError(f"the writer failed: {writer.complaint()}")
            self._must("demote", [*self.log.rbd(), "mirror", "image", "demote", "{image}"])
        self.snapshot_facts = snapshots.facts()

    def _written(self, started: float, writer: Background, *, exit_status: int | None, said: str) -> None:
        argv, how = ["python3", "{trial_client}", "write", "{trial}"], {"exit_status": exit_status, "said": said}
        self.log.add("write", started, self.log.now() - started, argv=argv, **how, acknowledged=self._acknowledged())
        if writer.exit_status not in (None, 0):
            raise ReplayError(f"the writer failed: {writer.complaint()}")

    def _acknowledged(self) -> int:
        return max(0, self.acknowledgements.count(b"\n") - 1)

    def _account_writes(self) -> None:
        """Charge what the writer wrote. This may ask the first cluster, so call it only when that is back."""
        journaled = "journaling" in self.pair.made.image.features
        self.bench.budget.commit(Write(self._acknowledged() * BLOCK_BYTES, journaled=journaled))

    def _restore_first_site(self) -> None:
        """Let the first site come back. Raises ReplayError if it was not gone the whole time."""
        if self.daemons_stopped:
            if not self.plan.stretch:
                self.loss.check_lost()
            self.loss.restore()

    def _promote(self) -> None:
        force = ["--force"] if self.plan.kind == "forced" else []
        template = [*self.log.rbd("second_"), "mirror", "image", "promote", *force, "{second_image}"]
        if self.daemons_stopped:
            self._promote_without_site(template)
            return
        deadline = time.monotonic() + PROMOTE_PATIENCE_SECONDS
        waiting = self._waiting("the copy to be promoted", PROMOTE_PATIENCE_SECONDS)
        for attempt in itertools.count(1):
            run = self.log.command(
                "promote",
                template,
                timeout_seconds=60,
                while_running=waiting.glance,
                programs=self.second.programs,
                attempt=attempt,
            )
            if run.exit_status == 0:
                return
            if run.exit_status not in NOT_YET or time.monotonic() > deadline:
                raise ReplayError(f"promote failed with status {run.exit_status} in attempt {attempt}")
            waiting.pause(0.1)

    def _promote_without_site(self, template: list[str]) -> None:
        started = self.log.now()
        waiting = self._waiting("the copy to be promoted without the first site", LOST_SITE_PATIENCE_SECONDS)

        def look() -> None:
            self._lose_patience(started)
            waiting.glance()

        run = self.log.command(
            "promote",
            template,
            timeout_seconds=LOST_SITE_PATIENCE_SECONDS,
            while_running=look,
            programs=self.second.programs,
            attempt=1,
        )
        if run.exit_status != 0:
            after = f"after {run.seconds:.0f} s without the first site"
            raise ReplayError(f"promote ended with status {run.exit_status} {after}")

    def _lose_patience(self, since: float) -> None:
        """Kill the mirror daemon once, if it holds the image for too long: it waits for the lost site."""
        hangs = self.log.now() - since > self.plan.promote_patience_seconds
        if hangs and not self.loss.mirror_daemon_killed:
            killed = self.log.now()
            self.loss.kill_mirror_daemon()
            self.log.add("mirror_daemon_killed", killed, self.log.now() - killed)

    def _first_write(self, standby: Background) -> None:
        started = self.log.now()
        standby.send(b"go\n")

        def is_written() -> bool:
            # A promotion may end although the mirror daemon still has the image's lock.
            if self.daemons_stopped and not self.plan.stretch:
                self._lose_patience(started)
            return standby.stdout().count(b"\n") > 1

        self._await(standby, is_written, "the first write on the second cluster")
        answer = json.loads(standby.stdout().splitlines()[1])
        argv = ["python3", "{trial_client}", "write-once", "{trial}"]
        self.log.add("first_write", started, answer["acknowledged_seconds"] - started, argv=argv, **answer)
        standby.end()

    def _verify(self, side: str) -> None:
        """Read one side's whole image with rbd's export, and log what it holds."""
        cluster, prefix = (self.bench.primary_cluster, "") if side == "first" else (self.second, "second_")
        with tempfile.TemporaryDirectory(prefix="replay-") as folder:
            copy = Path(folder) / "copy"
            self.log.values["copy"] = str(copy)
            template = [*self.log.rbd(prefix), "export", "--no-progress", f"{{{prefix}image}}", "{copy}"]
            self._must("verify", template, side=side, timeout_seconds=300, programs=cluster.programs)
            contents = inspect(copy.read_bytes(), self.plan.seed)
        self.log.lines[-1] |= asdict(contents)

    def _must(self, step: str, template: list[str], *, timeout_seconds: float = 60.0, **more: Any) -> None:
        waiting = self._waiting(f"the step {step} of the trial", timeout_seconds)
        run = self.log.command(step, template, timeout_seconds=timeout_seconds, while_running=waiting.glance, **more)
        if run.exit_status != 0:
            raise ReplayError(f"{step} ended with status {run.exit_status}: {self.log.lines[-1]['said'][-200:]}")

    def _await(self, program: Background, condition: Callable[[], bool], what: str) -> None:
        waiting = self._waiting(f"{program.name}: {what}", program.ready_within_seconds)
        program.await_that(condition, what, while_waiting=waiting.glance)

    def _waiting(self, what: str, at_most_seconds: float) -> Waiting:
        """Return a wait. A site that the trial loses on purpose makes none hopeless, and is asked nothing."""
        if self.loss is not None:
            return Waiting(what, at_most_seconds, say=self.bench.say)
        return self.bench.waiting(what, at_most_seconds, mirrored=True, writing=False)

    def _client(self, stack: ExitStack, mode: str, cluster: Cluster, patience_seconds: float) -> Background:
        options = {**self.plan.client_options}
        if mode == "write-once" and self.plan.stretch:
            # What is left answers nobody for a while. With a limit for each operation, the client was seen to have lost
            # its watch of the image after that, and its write to wait for minutes.
            options.pop("rados_osd_op_timeout", None)
        argv = client_argv(
            mode,
            cluster,
            self.pair.made if mode == "write" else self.pair.there,
            options,
            seed=self.plan.seed,
            origin=self.log.origin,
            writes_per_second=self.plan.writes_per_second,
        )
        started = Background(
            argv, programs=cluster.programs, slot=self.bench.slot, ready_within_seconds=patience_seconds
        )
        # End it before killing it: a killed client leaves a watch, and its image cannot be removed for half a minute.
        stack.callback(started.kill)
        stack.callback(started.end)
        return started
