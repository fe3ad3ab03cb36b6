import pytest

from replay.base.errors import ConfigurationError
from replay.tools import adapter, find_adapter, judge, render, tool_names
from replay.tools.base import Result, number


def test_a_tool_is_found_by_the_name_of_its_module_with_either_dash():
    assert adapter("rbd-bench") is adapter("rbd_bench")
    assert {"fio", "rados_bench", "rbd_bench"} <= set(tool_names())
    assert all(adapter(name).name == name for name in tool_names())


def test_a_helper_module_or_an_unknown_name_is_not_a_tool():
    assert find_adapter("fio_output") is None
    with pytest.raises(ConfigurationError, match="no adapter for the tool 'os'"):
        adapter("os")


def test_a_placeholder_without_a_value_is_named():
    assert render(["--conf", "{conf}/{pool}"], {"conf": "/c", "pool": "p"}) == ["--conf", "/c/p"]
    with pytest.raises(ConfigurationError, match=r"\{keyring\}"):
        render(["{keyring}"], {"keyring": None})


def test_a_run_shorter_than_a_second_is_void():
    assert judge(Result(metrics={"duration_seconds": 0.99}))[0] == "too_short"
    assert judge(Result(metrics={"duration_seconds": 1.0})) is None
    assert judge(Result(complete=False))[0] == "incomplete"


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "", " 1", "0x10", "1e999", True, None, [], "\u0661"])
def test_a_text_that_is_not_a_plain_finite_number_gives_none(text):
    assert number(text) is None


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), ("0.5", 0.5), ("1.04858e+06", 1048580.0), (7, 7.0)])
def test_a_number_is_read(text, value):
    assert number(text) == value
