"""answer.csv of one data set: reads the set's tables, and writes the file if it has changed."""

from __future__ import annotations

from pathlib import Path

from replay.base.tables import write_if_changed
from replay.claims.answer.load import load_question
from replay.claims.answer.table import answer_csv
from replay.claims.files import read_table
from replay.design.experiments import load_experiment
from replay.design.talk_files import answer_path
from replay.evidence.copies import read_stamp

ANSWER = "answer.csv"


def write_answer(data_set: Path) -> bool:
    """Write a data set's answer.csv from its experiments' tables; return whether it changed.

    A talk without config/answer.yaml has no answer.csv. Raises ConfigurationError if that file is invalid.
    """
    if not answer_path().exists():
        return False
    question = load_question()
    names = sorted({source.experiment for several in question.sources.values() for source in several})
    tables = {name: read_table(data_set / name, list(load_experiment(name)["factors"])) for name in names}
    text = answer_csv(question, tables, altered=read_stamp(data_set) is not None)
    return write_if_changed(data_set / ANSWER, text)
