"""Whatever bytes of raw output are altered: derive names the file, and once resealed nothing passes as measured."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from replay.base.errors import EvidenceError, ReplayError
from replay.claims.workflow.dataset import derive_data_set
from replay.derive.reseal import reseal
from support.datasets import alter, content_of, copied, manifest_of, measured
from support.evidence import evidence_of
from support.hostile import at_most

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=4,
)


def places(value, path=()):
    """Yield the key path of every value in a JSON document."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield (*path, key)
        yield from places(inner, (*path, key))


def with_one_other_value(content, data):
    document = json.loads(content)
    *above, last = data.draw(st.sampled_from(list(places(document))))
    inside = document
    for key in above:
        inside = inside[key]
    if data.draw(st.booleans()):
        inside[last] = data.draw(VALUES)
    else:
        del inside[last]
    return json.dumps(document).encode()


def with_other_bytes(content, data):
    start, end = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(content))])))
    return content[:start] + data.draw(st.binary(max_size=8)) + content[end:]


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "compressed"])
def original(request, tmp_path_factory):
    """A derived data set, and a configuration without claims, because judging them takes longest."""
    folder = tmp_path_factory.mktemp("benchmarks")
    measured(folder / "mine", compress=request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPLAY_CONFIG", str(folder))
        derive_data_set(folder / "mine")
        yield folder / "mine"


@pytest.mark.slow
@settings(at_most(80), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_is_altered_is_named_and_once_resealed_it_is_derived_or_named_and_never_unmarked(original, data):
    names = sorted(f"rbd-journaling/raw/{name}" for name in evidence_of(original / "rbd-journaling" / "raw"))
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(original, Path(folder) / "what-if")
        for name in chosen:
            path = copy / name
            content = path.read_bytes() if path.exists() else content_of(copy, name)
            change = data.draw(
                st.sampled_from([with_other_bytes, *([with_one_other_value] if name.endswith(".json") else []), None])
            )
            altered = None if change is None else change(content, data)
            assume(altered != content)
            if not path.exists():
                alter(copy, name, lambda _, altered=altered: altered)
            elif altered is None:
                path.unlink()
            else:
                path.write_bytes(altered)

        with pytest.raises(ReplayError) as raised:
            derive_data_set(copy)
        assert raised.value.where in {str(copy / name) for name in chosen} | {
            str(pack) for pack in copy.glob("*/raw/*.tar.gz")
        }
        assert any(name.partition("/raw/")[2] in str(raised.value) for name in chosen)

        assert {one.path for one in reseal(copy)} == set(chosen)
        try:
            derive_data_set(copy)
        except ReplayError as error:
            assert error.exit_status == EvidenceError.exit_status
            folders = {name.partition("/raw/")[2].rpartition("/")[0] or "rbd-journaling/raw" for name in chosen}
            assert any(folder in str(error) for folder in folders), str(error)
        assert manifest_of(copy)["altered"] == {"copied_from": "mine", "files": len(chosen)}
