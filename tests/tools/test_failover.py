"""A fail-over trial: the figures from its steps and acknowledged writes, or why they are refused."""

from __future__ import annotations

import pytest

from replay.tools import OutputError, reader
from support.failover_log import ACKNOWLEDGED, forced, outputs, planned, step

FAILOVER = reader("failover")


def metrics(kind, steps, **more):
    return FAILOVER.parse(outputs(steps, **more), 0, {"kind": kind}).metrics


def test_a_planned_trial_counts_from_the_start_of_the_demotion_and_loses_nothing():
    found = metrics("planned", planned())
    assert found["seconds_to_first_write"] == pytest.approx(1.05)
    assert found["seconds_without_write"] == pytest.approx(1.55)
    assert found["demote_seconds"] == pytest.approx(0.25)
    assert found["promote_seconds"] == pytest.approx(0.7), "from the first attempt to the end of the accepted one"
    assert (found["promote_attempts"], found["lost_writes"], found["lost_seconds"]) == (3, 0, 0)


def test_a_forced_trial_counts_from_the_loss_and_loses_what_the_other_side_lacks():
    found = metrics("forced", forced(present=2))
    assert found["seconds_to_first_write"] == pytest.approx(0.6)
    assert found["lost_writes"] == 2
    assert found["lost_seconds"] == pytest.approx(2.25 - 1.5)
    assert "demote_seconds" not in found


def test_when_nothing_arrived_all_time_of_writing_is_lost():
    assert metrics("forced", forced(present=0))["lost_seconds"] == pytest.approx(2.25 - 0.5)


def test_one_write_under_way_at_the_loss_may_have_arrived_but_not_two():
    assert metrics("forced", forced(present=5))["lost_seconds"] == 0
    with pytest.raises(OutputError, match="at most one was under way") as error:
        metrics("forced", forced(present=6))
    assert error.value.reason == "data_differ"


@pytest.mark.parametrize(
    ("kind", "steps", "said"),
    [
        ("planned", planned(present=3), "lost 1 of 4 writes"),
        ("planned", planned(digest="b"), "images differ"),
        ("planned", planned(expected="b"), "1 blocks of the second cluster's image come from no write"),
        ("forced", forced(expected="b"), "1 blocks of the second cluster's image come from no write"),
        ("forced", forced(first=False), "first write after the promotion is missing"),
    ],
)
def test_data_that_differ_are_never_a_result_and_the_line_that_says_so_is_named(kind, steps, said):
    with pytest.raises(OutputError, match=said) as error:
        metrics(kind, steps)
    assert (error.value.reason, error.value.line) == ("data_differ", len(steps))


def without(steps, name):
    return [one for one in steps if one["step"] != name]


def changed(steps, number, **values):
    """Return the steps with values of one of them replaced."""
    return [*steps[:number], {**steps[number], **values}, *steps[number + 1 :]]


@pytest.mark.parametrize(
    ("steps", "said", "reason", "line"),
    [
        (without(planned(), "first_write"), "no step 'first_write'", "incomplete", None),
        (without(planned(), "demote"), "no step 'demote'", "incomplete", None),
        (without(planned(), "verify"), "no step 'verify'", "incomplete", None),
        (planned()[:-1], r"the trial verified \['first'\]", "incomplete", 8),
        (planned()[:5] + planned()[6:], "no promotion was accepted", "failed", 5),
        (sorted(planned() + forced(), key=lambda one: one["started_seconds"]), "2 steps 'write'", "unparsable", 2),
        ([*planned(), "text"], "not a step", "unparsable", 10),
    ],
)
def test_a_log_that_is_not_whole_is_refused(steps, said, reason, line):
    with pytest.raises(OutputError, match=said) as error:
        metrics("planned", steps)
    assert (error.value.reason, error.value.line) == (reason, line)


@pytest.mark.parametrize(
    ("number", "values", "said"),
    [
        (2, {"exit_status": 1}, "demote ended with status 1"),
        (0, {"acknowledged": 5}, "5 writes acknowledged, the list has 4"),
    ],
)
def test_a_step_that_contradicts_the_others_is_named_by_its_line(number, values, said):
    with pytest.raises(OutputError, match=said) as error:
        metrics("planned", changed(planned(), number, **values))
    assert error.value.line in (number + 1, number + 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the first line is not"),
        ("write,acknowledged_seconds\n", "no write was acknowledged"),
        (ACKNOWLEDGED.replace("2,2.0\n", ""), "not write 2"),
        (ACKNOWLEDGED.replace("2,2.0", "2,nan"), "not write 2"),
        (ACKNOWLEDGED + "4,2.5\n", "4 writes acknowledged, the list has 5"),
    ],
)
def test_a_list_of_acknowledgements_with_a_fault_is_refused(text, said):
    with pytest.raises(OutputError, match=said):
        metrics("planned", planned(), acknowledgements=text)


@pytest.mark.parametrize("kind", ["planned", "forced"])
def test_a_log_or_list_cut_off_anywhere_gives_no_number(kind):
    whole = outputs({"planned": planned, "forced": forced}[kind]())
    for role, text in whole.items():
        for end in range(len(text)):
            with pytest.raises(OutputError):
                FAILOVER.parse({**whole, role: text[:end]}, 0, {"kind": kind})


def test_a_trial_that_failed_is_refused_whatever_its_log_says():
    with pytest.raises(OutputError) as error:
        FAILOVER.parse(outputs(planned()), 1, {"kind": "planned"})
    assert error.value.reason == "failed"


# A lost site, of which the levels state how often its copy was brought up to date --------------------------------


def lost(steps, **levels):
    return FAILOVER.parse(outputs(steps), 0, {"kind": "forced", **levels}).metrics


def test_a_recovery_point_reaches_from_the_last_write_on_the_other_side_to_the_loss():
    found = lost(forced(present=2), mode="snapshot", snapshot_interval_seconds=0.4)
    assert found["recovery_point_seconds"] == pytest.approx(2.5 - 1.5)
    assert found["intervals_lost"] == pytest.approx(2.5)
    assert (found["beyond_two_intervals"], found["promotion_hung"]) == (1, 0)
    assert lost(forced(present=2), journal_poll_age_seconds=0.5)["beyond_two_intervals"] == 0


def test_a_write_that_was_acknowledged_while_the_daemons_stopped_makes_no_negative_loss():
    steps = forced(present=4)
    steps[1] = step("disaster", 2.2, 0.35)
    assert lost(steps, journal_poll_age_seconds=5)["recovery_point_seconds"] == 0


def test_trials_whose_levels_state_no_interval_keep_the_metrics_that_they_had():
    assert not {"recovery_point_seconds", "promotion_hung"} & set(lost(forced()))


def test_a_mirror_daemon_that_was_killed_says_that_the_promotion_hung():
    steps = forced(present=2)
    steps[2] = step("promote", 2.6, 50.0, attempt=1)
    steps[3] = step("first_write", 52.6, 0.1, acknowledged_seconds=52.7)
    steps[4] = {**steps[4], **{key: step("verify", 53.0)[key] for key in ("started_seconds", "started_at")}}
    steps.insert(3, step("mirror_daemon_killed", 22.6, 0.05))
    found = lost(steps, mode="snapshot", snapshot_interval_seconds=1)
    assert found["promotion_hung"] == 1
    assert found["seconds_to_first_write"] == pytest.approx(52.7 - 2.5)


# A stretch cluster, in which nothing is promoted --------------------------------------------------------------------


def in_stretch(present=4):
    return [one for one in forced(present=present) if one["step"] != "promote"]


def test_in_a_stretch_cluster_the_second_site_has_every_write_without_a_promotion():
    found = lost(in_stretch(), mode="stretch")
    assert (found["lost_writes"], found["lost_seconds"]) == (0, 0)
    assert found["seconds_to_first_write"] == pytest.approx(0.6)
    assert not {"promote_seconds", "promote_attempts", "recovery_point_seconds", "promotion_hung"} & set(found)


def test_a_write_that_a_stretch_cluster_lost_is_counted():
    assert lost(in_stretch(present=3), mode="stretch")["lost_writes"] == 1


def test_a_promotion_is_missed_where_the_cluster_is_not_stretched():
    with pytest.raises(OutputError, match="no step 'promote'"):
        lost(in_stretch(), mode="journal", journal_poll_age_seconds=5)
