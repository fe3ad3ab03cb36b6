"""One tool, one client: the protocol of `rbd bench`. Sizes cells by pilots; knows what mirroring leaves behind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from replay.design.design import Cell, CellSet, Variant, digest_of
from replay.design.media import Write
from replay.design.sizing import MOST_ROUNDS, PilotRound, cell_bytes, first_bytes, is_enough, next_bytes
from replay.measure.procedure import Protocol, is_journaled
from replay.owned.images import BlockImage, create_image, remove_images
from replay.procedures.parts.mirror_cells import MirrorCells
from replay.procedures.parts.tool_run import client_values, run_observed, tool_options
from replay.raw.evidence import pretty_json, read_json, record
from replay.raw.provenance import host
from replay.raw.record import Measured, Wait
from replay.tools import OutputError, Result, adapter, judge


class SingleTool(Protocol):
    """Runs one benchmark tool against the image of the cell's variant."""

    overhead_seconds = 0.7
    pilot_share = 0.6
    writes_are_known = True

    def __init__(self, bench, design) -> None:
        super().__init__(bench, design)
        self.adapter = adapter(design.configuration["tool"])
        self.program = self.adapter.program
        self.images: dict[str, BlockImage] = {}
        self.mirror = MirrorCells(bench, design.configuration.get("snapshot_interval_seconds"))
        self.io_total_bytes: dict[str, int] = {}
        self.sized_by: dict[str, Cell] = {}

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Create and fill one image per variant, wait for initial copies, and size every cell that is not sized yet."""
        cells = [cell for one in sets for cell in one.cells]
        for cell in cells:
            variant = cell.variant
            if variant.image_name not in self.images:
                self.bench.say(f"image for {variant.image_name}: create and fill")
                self.images[variant.image_name] = self._create_image(variant)
        for made in self.images.values():
            self.mirror.await_first_copy(made)
        self._images_made()
        for one in sets:
            by_variant = {cell.variant.name: cell for cell in one.cells}
            for cell in one.cells:
                self.sized_by[cell.cell_id] = by_variant.get(cell.variant.size_of, cell)
        leaders = dict.fromkeys(self.sized_by[cell.cell_id].cell_id for cell in cells)
        unsized = [cell for cell in cells if cell.cell_id in leaders and not self._load_size(raw, cell)]
        for number, cell in enumerate(unsized, start=1):
            self.bench.say(f"pilot {number} of {len(unsized)}: {cell.point} {cell.variant.label}")
            self._pilot(raw, cell)

    def close_block(self) -> None:
        """Remove this block's images."""
        images = list(self.images.values())
        self.images.clear()
        remove_images(self.bench, images)

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what the tool is told to transfer."""
        return [self._write(cell, self._size(cell))] if self._is_write(cell) else []

    def run(self, cell: Cell, seed: int) -> Measured:
        """Run the tool on the cell's image; assert what mirroring must have done."""
        made = self.images[cell.variant.image_name]
        watch = self.mirror.watch(made, is_write=self._is_write(cell))
        measured = self._run_tool(cell, self._size(cell), seed, "tool", watch.while_running)
        result = self._judge(cell, measured)
        if result is not None:
            watch.transferred_bytes = self._account(cell, result)
            rate = result.metrics.get("operations_per_second")
            measured.headline = f"{rate:,.0f} operations/s" if rate else ""
        watch.finish(measured)
        self._watch = watch
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until mirroring has caught up with the cell."""
        return self._watch.restore(measured)

    def after_invalid(self, raw: Path, cell: Cell, measured: Measured) -> None:
        """Size a cell anew when it was too short."""
        if measured.invalid and measured.invalid[0] == "too_short":
            self._pilot(raw, self.sized_by[cell.cell_id])

    def _create_image(self, variant: Variant) -> BlockImage:
        """Create and fill the image of the variants that share its `image_name`."""
        return create_image(self.bench, variant.image_name, variant.image)

    def _images_made(self) -> None:
        """Do what has to come between filling the images and the first pilot; a protocol built on this one may."""

    def _size(self, cell: Cell) -> int:
        return self.io_total_bytes[self.sized_by[cell.cell_id].cell_id]

    def _account(self, cell: Cell, result: Result) -> int:
        """Return the bytes that a run transferred, after charging them to the account when they were written."""
        transferred = int(result.metrics.get("bytes", 0))
        if self._is_write(cell):
            self.bench.account(self._write(cell, transferred))
        return transferred

    def _write(self, cell: Cell, size_bytes: float) -> Write:
        pool = self.images[cell.variant.image_name].pool
        return Write(size_bytes, pool=pool, journaled=is_journaled(cell))

    def _is_write(self, cell: Cell) -> bool:
        return "write" in str(cell.levels.get("io_type", "")) or cell.levels.get("io_type") == "rw"

    def _run_tool(self, cell: Cell, io_total_bytes: int, seed: int, component: str, while_running=None) -> Measured:
        made = self.images[cell.variant.image_name]
        options = tool_options(self.bench, self.design.options, cell.variant.client_options)
        options["namespace"] = bool(made.namespace)
        return run_observed(
            self.bench,
            self.adapter.argv_template(cell.levels, options),
            {
                **client_values(self.bench),
                "pool": made.pool,
                "namespace": made.namespace or None,
                "image": made.name,
                "io_total_bytes": str(io_total_bytes),
                "seed": str(seed),
            },
            timeout_seconds=60 + 30 * self.design.sizing.target_seconds,
            component=component,
            result_files=self.adapter.result_files(cell.levels, options),
            while_running=while_running,
        )

    def _parse(self, cell: Cell, measured: Measured) -> Result:
        outputs = {role: content.decode(errors="replace") for role, (_, content) in measured.results.items()}
        return self.adapter.parse(outputs, measured.exit_status, cell.levels)

    def _judge(self, cell: Cell, measured: Measured) -> Result | None:
        """Set `measured.invalid` where the output cannot stand; return the result where it can."""
        if measured.invalid:
            return None
        try:
            result = self._parse(cell, measured)
        except OutputError as error:
            measured.invalid = (error.reason, str(error).splitlines()[0])
            return None
        measured.invalid = judge(result, self.design.sizing.minimum_seconds)
        return result

    # Sizing -----------------------------------------------------------------------------------------------------------

    def _pilot_folder(self, cell: Cell) -> str:
        return f"pilot/{host()['id']}/{cell.cell_id}"

    def _load_size(self, raw: Path, cell: Cell) -> bool:
        """Take the cell's size from its last pilot on this machine; tell whether there was one."""
        folder = raw / self._pilot_folder(cell)
        rounds = sorted(folder.glob("round-*.json"), key=lambda path: int(path.stem.split("-")[1]))
        if not rounds or "io_total_bytes_of_cell" not in (last := read_json(rounds[-1])):
            return False
        self.io_total_bytes[cell.cell_id] = int(last["io_total_bytes_of_cell"])
        return True

    def _pilot_round(self, cell: Cell, measured: Measured, total: int) -> PilotRound:
        """Return how long a pilot took: 0 when it was over before the tool's clock had moved."""
        try:
            result = self._parse(cell, measured)
        except OutputError as error:
            if error.reason != "too_short":
                raise
            return PilotRound(total, 0.0)
        return PilotRound(total, result.metrics["duration_seconds"])

    def _pilot(self, raw: Path, cell: Cell) -> None:
        """Run pilots of growing size until one is long enough; keep each as evidence.

        Raises ReplayError (through the parser) when a pilot fails: a cell that cannot be sized cannot be measured.
        """
        sizing, size = self.design.sizing, int(cell.levels["io_size_bytes"])
        threads = int(self.design.options.get("io_threads", 1))
        folder = self._pilot_folder(cell)
        done = len(list((raw / folder).glob("round-*.json")))
        total = first_bytes(size, threads, sizing)
        if done:
            previous = read_json(raw / folder / f"round-{done}.json")
            total = 2 * int(previous["io_total_bytes"])
        most = self._most_bytes(cell)
        total = min(total, most)
        for number in range(done + 1, done + 1 + MOST_ROUNDS):
            made = self.images[cell.variant.image_name]
            watch = self.mirror.watch(made, is_write=self._is_write(cell))
            seed = int(digest_of([cell.cell_id, "pilot", number], 8), 16)
            if self._is_write(cell):
                self.bench.charge(f"pilot {number} of {cell.point} {cell.variant.name}", self._write(cell, total))
            measured = self._run_tool(cell, total, seed, "pilot", watch.while_running)
            last = self._pilot_round(cell, measured, total)
            watch.transferred_bytes = total if self._is_write(cell) else 0
            watch.finish(measured)
            waits = watch.restore(measured)
            enough = is_enough(last, sizing) or total == most or number == done + MOST_ROUNDS
            note = {
                "schema_version": 1,
                "cell_id": cell.cell_id,
                "point": cell.point,
                "variant": cell.variant.name,
                "levels": dict(cell.levels),
                "argv": measured.argv,
                "exit_status": measured.exit_status,
                "started_at": measured.started_at,
                "ended_at": measured.ended_at,
                "io_total_bytes": total,
                "duration_seconds": last.seconds,
                "waits": [wait.public() for wait in waits],
                "host": host(),
            }
            if enough:
                self.io_total_bytes[cell.cell_id] = min(cell_bytes(last, size, threads, sizing), most)
                note["io_total_bytes_of_cell"] = self.io_total_bytes[cell.cell_id]
            for suffix, content in measured.results.values():
                record(raw, f"{folder}/round-{number}.{suffix}", content)
            record(raw, f"{folder}/round-{number}.json", pretty_json(note))
            if enough:
                return
            total = min(next_bytes(last, size, threads, sizing), most)

    def _most_bytes(self, cell: Cell) -> float:
        """Return what a cell may transfer at most: with `options.one_pass`, a sequential one, the image once.

        `rbd bench --io-pattern seq` (16.2) that has come to the end of its image goes on with the same block of each
        thread, over and over: the rate is then another workload's.
        """
        sequential = str(cell.levels.get("io_pattern", "")).endswith("seq")
        return cell.variant.image.size_bytes if sequential and self.design.options.get("one_pass") else math.inf


PROTOCOL = SingleTool
