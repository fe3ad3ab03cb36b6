"""A data set in a few plain sentences, whose figures come only from its files."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import EvidenceError
from replay.base.paths import ROOT
from replay.base.stats import by_chance
from replay.claims.brief import WIDTH, as_text, brief, percent, times
from replay.claims.judge import read_controls
from replay.claims.load import load_book
from replay.claims.model import HELD, INCONCLUSIVE, NOT_MEASURED, NOT_TESTABLE, REFUTED, VERDICTS
from support.commands import run_claims

BOOK = load_book()
PLAIN = [claim for claim in BOOK.claims if claim.plain]
NUMBER = re.compile(r"\d[\d.,]*\d|\d")
RATIO = st.floats(min_value=0.001, max_value=5000)


def rounds_to(value, shown):
    """Whether a shown number is the value to two significant digits, or better."""
    return abs(float(shown) - value) <= 0.05 * value * 1.0001


@st.composite
def judged(draw, claim, verdicts=VERDICTS):
    """A possible entry of a claim in claims.json."""
    verdict = draw(st.sampled_from(verdicts))
    # Not measured: nothing of it, or not all of its conditions.
    n = draw(st.sampled_from([0, 6])) if verdict == NOT_MEASURED else draw(st.integers(1, 40))
    estimate, low, high = (None, None, None) if n == 0 else draw(st.tuples(RATIO, RATIO, RATIO))
    if n == 1:
        low = high = None
    found = {"estimate": estimate, "low": low, "high": high, "n": n}
    return {
        "verdict": verdict,
        "reason": "cpu limited its cells",
        "experiment": claim.experiment,
        "conditions": {claim.plain.condition: found},
    }


@st.composite
def documents(draw, name):
    return {"data_set": name, "claims": {claim.id: draw(judged(claim)) for claim in PLAIN}}


CONTROL = st.fixed_dictionaries(
    {
        "intervals": st.integers(0, 60),
        "excluding_one": st.integers(0, 3),
        "share": st.none(),
        "geometric_mean": RATIO,
    }
)


def figures_of(claim, document):
    """Every number about a claim in the files, as it may be shown."""
    found = document["claims"][claim.id]["conditions"][claim.plain.condition]
    factor = 100 if claim.plain.shown == "percent" else 1
    return [found[key] * factor for key in ("estimate", "low", "high") if found[key] is not None], found["n"]


def numbers_besides(text, *templates):
    """The numbers in a text that are not in its templates."""
    left = NUMBER.findall(text)
    for template in templates:
        for literal in NUMBER.findall(re.sub(r"\{[a-z_]+\}", "", template)):
            left.remove(literal)
    return left


@given(documents("mine"), documents("other"), CONTROL)
def test_a_sentence_says_no_figure_that_is_not_in_the_files(document, other, control):
    spoken = [claim for claim in PLAIN if beside_of(claim, document) == BOOK.wording["against"]]
    *said, last = brief(BOOK, document, {"rbd-journaling": control}, other)
    assert len(said) == len(spoken)
    for claim, sentence in zip(spoken, said, strict=True):
        for text, source, templates in (
            (sentence.text, document, [claim.plain.finding, follows_of(claim, document)]),
            (sentence.beside, other, [beside_of(claim, other)]),
        ):
            values, n = figures_of(claim, source)
            for shown in numbers_besides(text, *templates):
                assert shown == str(n) or any(rounds_to(value, shown) for value in values), (text, shown)
    one, counts = BOOK.wording["controls"]["rbd-journaling"], (control["excluding_one"], control["intervals"])
    follows = "no_interval" if not control["intervals"] else "passed" if by_chance(*counts) else "strayed"
    for shown in numbers_besides(last.text, one[follows]):
        whole = (str(control["intervals"]), str(control["excluding_one"]))
        assert shown in whole or rounds_to(control["geometric_mean"], shown), last.text


def follows_of(claim, document):
    verdict = document["claims"][claim.id]["verdict"]
    of_all = {NOT_TESTABLE: BOOK.wording["not_testable"], NOT_MEASURED: BOOK.wording["measured_in_part"]}
    return of_all.get(verdict) or claim.plain.follows[verdict]


def beside_of(claim, document):
    measured = document["claims"][claim.id]["conditions"][claim.plain.condition]["n"] > 0
    return BOOK.wording["against" if measured else "not_in_other"]


def document_of(claim, verdict, estimate=1.83, low=1.62, high=2.07, n=6):
    found = {"estimate": estimate, "low": low, "high": high, "n": n}
    one = {"verdict": verdict, "reason": "cpu limited 90% of its cells, and decides instead"}
    one |= {"experiment": claim.experiment, "conditions": {claim.plain.condition: found}}
    return {"data_set": "mine", "claims": {claim.id: one}}


RANDOM_4K = next(claim for claim in PLAIN if claim.id == "journal-4k-write-little")


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (HELD, "holds."),
        (REFUTED, "does not hold."),
        (INCONCLUSIVE, "These data do not settle"),
        (NOT_TESTABLE, "not testable here: cpu limited 90%"),
        (NOT_MEASURED, "Not all that the claim is about was measured"),
    ],
)
def test_each_verdict_has_its_own_ending(verdict, said):
    (sentence,) = brief(BOOK, document_of(RANDOM_4K, verdict), {})
    assert sentence.text.startswith(
        "Here a random 4K write takes 1.8 times as long with a journal (1.6 to 2.1, n = 6). "
    )
    assert said in sentence.text
    assert sentence.beside == ""


def test_with_one_block_no_interval_is_stated_nor_one_of_the_control():
    document = document_of(RANDOM_4K, INCONCLUSIVE, low=None, high=None, n=1)
    control = {"intervals": 0, "excluding_one": 0, "share": None, "geometric_mean": 1.01}
    sentence, last = brief(BOOK, document, {"rbd-journaling": control})
    assert "(no interval, n = 1)" in sentence.text
    assert "passed" not in last.text
    assert "one block gives no interval" in last.text


def test_a_control_that_strayed_is_not_called_passed():
    control = {"intervals": 4, "excluding_one": 3, "share": 0.75, "geometric_mean": 1.0521}
    *_, last = brief(BOOK, document_of(RANDOM_4K, HELD), {"rbd-journaling": control})
    assert "passed" not in last.text
    assert "4 points" in last.text
    assert "3 of the intervals" in last.text
    assert "1.05)" in last.text


def test_one_interval_of_many_that_excludes_one_is_chance():
    control = {"intervals": 44, "excluding_one": 1, "share": 0.0227, "geometric_mean": 0.9933}
    *_, last = brief(BOOK, document_of(RANDOM_4K, HELD), {"rbd-journaling": control})
    assert "passed" in last.text
    assert "1 of the intervals exclude 1, no more than by chance" in last.text


def test_a_claim_whose_figure_is_missing_has_no_sentence():
    # Of several conditions one may refute the claim while another was not measured.
    document = document_of(RANDOM_4K, REFUTED, estimate=None, low=None, high=None, n=0)
    assert brief(BOOK, document, {}) == []
    assert "measured no claim" in as_text("mine", [])


def test_a_claim_that_the_other_data_set_measured_in_part_has_no_verdict_there():
    other = document_of(RANDOM_4K, NOT_MEASURED) | {"data_set": "other"}
    (sentence,) = brief(BOOK, document_of(RANDOM_4K, HELD), {}, other)
    assert sentence.beside == "The data set other has 1.8 (1.6 to 2.1, n = 6): measured in part there."


def test_a_talk_without_plain_words_has_no_sentences():
    assert brief(replace(BOOK, wording=None), document_of(RANDOM_4K, HELD), {}) == []


def test_the_sentences_of_the_shipped_data_set_have_the_figures_of_its_files():
    folder = ROOT / "benchmarks" / "tentacle"
    document = json.loads((folder / "claims.json").read_text())
    said = brief(BOOK, document, read_controls(folder), document)
    assert len(said) == len(PLAIN) + 1
    for claim, sentence in zip(PLAIN, said, strict=False):
        found = document["claims"][claim.id]["conditions"][claim.plain.condition]
        show = {"times": times, "percent": percent}[claim.plain.shown]
        assert f"{show(found['low'])} to {show(found['high'])}, n = {found['n']}" in sentence.text
        assert f"{document['claims'][claim.id]['verdict']} there." in sentence.beside


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.83, "1.8"),
        (2, "2.0"),
        (9.96, "10"),
        (15.64, "16"),
        (99.6, "100"),
        (1234, "1200"),
        (0.045, "0.045"),
        (0.7, "0.70"),
    ],
)
def test_a_ratio_has_two_digits_and_no_exponent(value, text):
    assert times(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.378, "38 %"), (0.045, "4.5 %"), (1.02, "102 %"), (12.3, "1230 %")])
def test_a_share_is_written_in_per_cent(value, text):
    assert percent(value) == text


def test_a_figure_and_its_unit_stay_on_one_line():
    lines = as_text("mine", brief(BOOK, document_of(RANDOM_4K, HELD), {})).splitlines()
    assert all(len(line) <= WIDTH for line in lines[1:])
    assert not any(line.endswith(("=", "n")) for line in lines), lines
    assert "\u00a0" not in "".join(lines), "so that the lines can be searched and copied"


@pytest.fixture
def two_data_sets(benchmarks):
    """The data set that ships under two names."""
    for name in ("mine", "other"):
        (benchmarks / name).symlink_to(ROOT / "benchmarks" / "tentacle")


def test_the_command_reports_both_data_sets_and_the_control(two_data_sets, capsys):
    assert run_claims(["--data", "mine", "--brief", "--against", "other"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("What the data set mine says (intervals: 95%, over n blocks):\n  - Here a sequential 4K")
    assert said.count("The data set other has") == len(PLAIN)
    assert "two images without a journal were compared with each other at 44 points" in " ".join(said.split())
    assert "REFUTED" not in said


def test_claims_that_are_not_measured_can_be_left_out_and_are_named(two_data_sets, capsys):
    assert run_claims(["--data", "mine"]) == 0
    whole = capsys.readouterr().out
    assert run_claims(["--data", "mine", "--measured"]) == 0
    measured = capsys.readouterr().out
    absent = whole.count("\nNOT MEASURED")
    assert absent > 0
    assert "NOT MEASURED" not in measured
    assert re.search(rf"^{absent} more claims? (is|are) not measured: .*kernel-client-keeps-up", measured, re.MULTILINE)


@pytest.mark.parametrize(
    "content", ['{"experiments": ', "[]", '{"experiments": ["rbd"]}', '{"experiments": {"rbd": 1}}']
)
def test_an_invalid_manifest_is_named(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(EvidenceError, match=r"manifest\.json.*cannot be read"):
        read_controls(tmp_path)
    (tmp_path / "manifest.json").unlink()
    assert read_controls(tmp_path) == {}, "before it was derived, no control is known"
