"""The load is that of the time in which a tool measured, not of its wait for the end."""

from hypothesis import given
from hypothesis import strategies as st

from replay.samplers.busiest import busiest, joined
from replay.samplers.machine import MachineSampler, Reading


def readings(*idle_fractions, step=0.1, ticks=10):
    """A reading each `step` seconds, the CPU idle as given in between."""
    made = [Reading(100, 1000, (50,), 7.0)]
    for fraction in idle_fractions:
        last = made[-1]
        made.append(
            Reading(
                round(last.idle_ticks + fraction * ticks),
                last.all_ticks + ticks,
                (last.disk_busy_milliseconds[0] + 40,),
                last.clock + step,
            )
        )
    return made


def test_the_pause_at_the_end_and_the_slow_start_are_left_out():
    run = readings(0.8, 0, 0, 0.1, 1, 1, 1, 1)
    assert MachineSampler.load(run[0], run[-1])["cpu_idle_fraction"] > 0.6
    assert MachineSampler.load(*busiest(run, 0.29))["cpu_idle_fraction"] == round(1 / 30, 4)


def test_a_run_that_is_shorter_or_failed_counts_as_a_whole():
    run = readings(0, 1)
    assert busiest(run, 5.0) == (run[0], run[-1])
    assert busiest(run, None) == (run[0], run[-1])


def test_stretches_are_added_up():
    first, second = readings(0, 0.5), readings(1.0, step=0.3, ticks=30)
    load = MachineSampler.load(*joined([(first[0], first[-1]), (second[0], second[-1])]))
    assert load["cpu_idle_fraction"] == (5 + 30) / 50
    assert load["disk_busy_fraction"] == round(0.12 / 0.5, 4)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0.05, 2.0))
def test_no_stretch_of_that_length_is_busier(fractions, seconds):
    run = readings(*fractions)
    start, end = busiest(run, seconds)
    if end.clock - start.clock < seconds:
        assert (start, end) == (run[0], run[-1])
        return
    chosen = (end.idle_ticks - start.idle_ticks) / (end.all_ticks - start.all_ticks)
    for i, one in enumerate(run):
        other = next((two for two in run[i:] if two.clock - one.clock >= seconds), None)
        if other:
            assert chosen <= (other.idle_ticks - one.idle_ticks) / (other.all_ticks - one.all_ticks)
