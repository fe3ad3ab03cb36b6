"""The pages: their width and links; every page is reachable, its commands exist, and all name one version."""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from replay.base.paths import ROOT
from replay.cli.main import COMMANDS, whole_grammar
from test_rooms import ORDER

WIDTH = 120
FOLDERS = ("docs", "config", "deck", "plugins", "tests", ".github")
PAGES = sorted(
    path.relative_to(ROOT)
    for path in (*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md")))
    # The slides of a talk for tests are no pages.
    if not {"node_modules", "slides"} & {*path.parts}
)
#: Every word that the project uses in a special sense.
VOCABULARY = """
    aggregate, answer, attempt, block, bottleneck, campaign, cell, claim, data set, deck, derive, design, experiment,
    factor, invalid, ledger, level, limit, link, measure, pack, pilot, plan, protocol, raw output, reader, receipt,
    recovery point, sampler, sandbox, scale, set, sidecar, site, stretch, tool, upper bound, variant, verdict,
    write budget
"""
VOCABULARY = [word.strip() for word in VOCABULARY.split(",")]

HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
LINK_ONLY = re.compile(r"^\s*(?:[-*] )?!?\[[^\]]*\]\([^)]*\)[.,;]?$")


def without_code(text: str) -> str:
    """The text with its code blocks emptied, so that line numbers stay."""
    lines, fence, after_blank, in_block = [], None, True, False
    for line in text.split("\n"):
        opening = re.match(r" *(```+|~~~+)", line)
        if fence:
            lines.append("")
            fence = None if opening and opening[1] == fence else fence
        elif opening:
            fence = opening[1]
            lines.append("")
        elif line.startswith("    ") and (after_blank or in_block):
            in_block = True
            lines.append("")
        else:
            in_block = in_block and not line.strip()
            lines.append(line)
        after_blank = not line.strip()
    return "\n".join(lines)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in HEADING.findall(without_code(text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        again = 1
        while (numbered := anchor if again == 1 else f"{anchor}-{again - 1}") in found:
            again += 1
        found.add(numbered)
    return found


def links(page: Path) -> list[tuple[Path, str]]:
    """The files, below the project's root, and the anchors that a page's relative links name."""
    text = re.sub(r"`[^`\n]*`", "`code`", without_code((ROOT / page).read_text()))
    targets = [one for one in LINK.findall(text) if not re.match(r"[a-z]+:", one)]
    named = [one.partition("#") for one in targets]
    return [
        ((ROOT / page.parent / path).resolve().relative_to(ROOT) if path else page, anchor) for path, _, anchor in named
    ]


def too_wide(text: str) -> list[int]:
    """The numbers of the lines of prose that are wider than they may be."""
    return [
        number
        for number, line in enumerate(without_code(text).split("\n"), 1)
        if len(line) > WIDTH and not line.lstrip().startswith("|") and not LINK_ONLY.match(line)
    ]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_no_line_of_prose_is_too_wide(page):
    assert too_wide((ROOT / page).read_text()) == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_to_a_file_and_an_anchor(page):
    broken = [
        f"{path}#{anchor}"
        for path, anchor in links(page)
        if not (ROOT / path).exists()
        or (anchor and path.suffix == ".md" and anchor not in anchors((ROOT / path).read_text()))
    ]
    assert broken == []


def test_every_page_is_reachable_from_the_readme():
    reached, ahead = set(), [Path("README.md")]
    while ahead:
        page = ahead.pop()
        if page in PAGES and page not in reached:
            reached.add(page)
            ahead += [path for path, _ in links(page)]
    # A page beside test data explains only these data.
    assert {page for page in PAGES if page.parts[0] != "tests"} - reached == set()


def test_the_glossary_has_every_word_of_the_vocabulary_in_order():
    rows = re.findall(r"^\| (?!word|-)([^|]+?) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    words = [word for row in rows for word in row.split(", ")]
    assert [word for word in VOCABULARY if word not in words] == []
    firsts = [row.split(", ")[0].casefold() for row in rows]
    assert firsts == sorted(set(firsts))


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_commands_that_a_page_names_exist(page):
    text = (ROOT / page).read_text()
    folder = next((one for one in (ROOT / page).parents if (one / "package.json").exists()), ROOT)
    scripts = json.loads((folder / "package.json").read_text())["scripts"]
    named = re.findall(r"\bnpm run ([a-z][a-z:-]*)", text)
    named += re.findall(r"\bnpm (start|test)\b", text)
    assert [word for word in named if word not in scripts] == []
    commands = re.findall(r"(?:\./replay|^ *replay|`replay) ([a-z]+)", text, re.MULTILINE)
    assert [word for word in commands if word not in COMMANDS] == []


def option_strings(parser: argparse.ArgumentParser) -> set[str]:
    """Every option of a command and of its subcommands."""
    below = [action.choices.values() for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return {*parser._option_string_actions}.union(*(option_strings(one) for choices in below for one in choices))


OPTIONS = next(
    {name: option_strings(parser) for name, parser in action.choices.items()}
    for action in whole_grammar()._actions
    if isinstance(action, argparse._SubParsersAction)
)


def wrong_options(text: str) -> list[str]:
    """The options that a page gives to a command that does not take them."""
    called = re.findall(r"(?:\./replay|^ +replay|`replay) ([a-z]+)([^#`\n]*)", text, re.MULTILINE)
    return [
        f"{command} {option}"
        for command, rest in called
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest)
        if option not in OPTIONS.get(command, ())
    ]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_options_that_a_page_names_exist(page):
    assert wrong_options((ROOT / page).read_text()) == []


def test_a_wrong_option_of_a_page_is_found():
    text = "`./replay measure --site NAME --fast` and\n\n    replay sandbox up --left-osds 6   # --nothing\n"
    assert wrong_options(text) == ["measure --fast"]


def test_only_wide_lines_of_prose_are_found():
    wide = "x" * (WIDTH + 1)
    text = f"{wide}\n\n    {wide}\n\n| {wide} |\n```\n{wide}\n```\n[a]({wide})\n- item\n    {wide}\n"
    assert too_wide(text) == [1, 11]


def test_anchors_are_those_of_github():
    text = "# What `npm start` does\n## Twice\n## Twice\n```\n# no heading\n```\n## [A link](a.md), and more\n"
    assert anchors(text) == {"what-npm-start-does", "twice", "twice-1", "a-link-and-more"}


def test_the_page_of_the_command_has_a_row_for_each_command_and_no_other():
    text = (ROOT / "docs" / "command.md").read_text()
    assert re.findall(r"^\| `replay ([a-z]+)", text, re.MULTILINE) == list(COMMANDS)


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_packages_citation_and_changelog_name_one_version(citation):
    released = re.findall(r"^## \[(\d[^]]*)\] - ([\d-]+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert (citation["version"], citation["date-released"]) == released[0]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == citation["version"]
    assert json.loads((ROOT / "package.json").read_text())["version"] == citation["version"]
    locked = re.search(r'^name = "replay"\nversion = "(.+)"$', (ROOT / "uv.lock").read_text(), re.MULTILINE)
    assert locked[1] == citation["version"], "run `uv lock`"


def test_the_lock_of_npm_is_of_these_packages():
    """`npm ci` looks at no version of the project, and an environment that is there is not made anew."""
    package, lock = (json.loads((ROOT / name).read_text()) for name in ("package.json", "package-lock.json"))
    keys = ("version", "dependencies", "devDependencies")
    assert {key: lock["packages"][""][key] for key in keys} == {key: package[key] for key in keys}, "run `npm install`"


def test_the_citation_has_what_its_format_requires(citation):
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    assert citation["message"] and citation["title"]
    assert [list(author) for author in citation["authors"]] == [["name"]], "entities, no persons"


TEXT = (ROOT / "docs" / "architecture.md").read_text()
#: The folders in which a path on the page may begin.
ROOTS = (ROOT, ROOT / "scripts" / "replay")


def test_the_rooms_of_the_package_are_listed_from_the_top_down():
    section = TEXT.partition("\n## The rooms of the Python package\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z]+)/` \|", section, re.MULTILINE) == [*reversed(ORDER)]


def test_every_room_of_the_deck_is_listed():
    section = TEXT.partition("\n## The rooms of the deck\n")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `deck/([a-z-]+)/` \|", section, re.MULTILINE))
    assert listed == {path.name for path in (ROOT / "deck").iterdir() if path.is_dir()}


#: A folder, or a file in one, except what `site` builds.
PATH = re.compile(r"`([a-zA-Z-]+(?:/[\w.-]+)*/(?:[\w.-]+\.(?:py|js|yaml|json|css|md))?)`")
NAMED = sorted({*PATH.findall(TEXT)} - {"dist/"})


@pytest.mark.parametrize("name", NAMED)
def test_what_the_page_names_exists(name):
    assert any((root / name).exists() for root in ROOTS), name
