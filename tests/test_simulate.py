"""The simulator deals lawfully, and what it does wrong is found: right atom, scope and status, and nothing beside."""

from collections.abc import Iterator

import msgspec
import pytest
from click.testing import CliRunner

from stream.cli import main
from stream.deal.events import AnyEvent
from stream.deal.verdicts import Verdict
from stream.deal.wire import encode
from stream.replay.table import Table
from stream.rulebook.paragraphs import ids, load
from stream.simulate.mutations import MUTATIONS
from stream.simulate.mutations.beside import BESIDE
from stream.simulate.tables import Order, injections, reports
from stream.simulate.truth import Truth, by_round, compared, told

WAYS = [(rules, atom, way) for rules in ids() for atom, way in injections(load(rules), "all")]


def dealt(order: Order) -> tuple[list[AnyEvent], dict[str, Truth]]:
    """The log of an order's one table, and what was done wrong by round."""
    log, truths = [], {}
    for (_, event), truth in reports(order):
        log.append(event)
        if truth is not None:
            truths[truth.round] = truth
    return log, truths


def judged(log: list[AnyEvent]) -> list[Verdict]:
    """The verdicts in force at the end of a log."""
    table = Table(log[0].table)
    for event in log:
        table.hear(event)
    table.settle()
    return [*table.left, *table.in_force()]


def tables(rules: str, rounds: int) -> Iterator[Order]:
    """Tables with one to nine seats and all sorts of options."""
    for seats in range(1, 10):
        yield Order(rules, rounds, seats=seats, seed=seats, mixed=True)


@pytest.mark.parametrize("rules", ids())
def test_lawful_rounds_make_no_verdict(rules: str) -> None:
    """Some hundred lawful rounds of a game, at tables of all sizes and options: nothing is said."""
    for order in tables(rules, 40):
        log, truths = dealt(order)
        assert truths == {}
        assert [told(v) for v in judged(log)] == []


@pytest.mark.parametrize("rules", ids())
def test_the_same_seed_gives_the_same_bytes(rules: str) -> None:
    """What is dealt depends on the order alone."""
    order = Order(rules, 30, seed=4, inject=injections(load(rules), "all"), every=3, mixed=True)
    first, second = ([encode(e) for e in dealt(order)[0]] for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("rules", "atom", "way"), WAYS, ids=[f"{a}:{w}" for _, a, w in WAYS])
def test_each_thing_done_wrong_is_found(rules: str, atom: str, way: str) -> None:
    """Each atom in each of its forms is one root verdict of the right scope and final status, in its round alone."""
    order = Order(rules, 16, seats=5, seed=11, inject=((atom, way),), every=4, after=3)
    log, truths = dealt(order)
    assert truths
    found = by_round(log, judged(log), truths)
    for name, truth in truths.items():
        verdicts = found.pop(name, [])
        assert compared(truth, verdicts) == ["found"], (truth, [told(v) for v in verdicts])
    assert {name: [told(v) for v in verdicts] for name, verdicts in found.items()} == {}


def test_every_atom_can_be_broken() -> None:
    """Each atom names a way, each irregularity the remedied form and the breached or the over-done one."""
    for rules in ids():
        forms: dict[str, set[str]] = {}
        for atom, way in injections(load(rules), "all"):
            forms.setdefault(atom, set()).add(way.partition(":")[2] or "breached")
        assert forms.keys() == {a.id for a in load(rules).rules.atom}
        for one in load(rules).rules.atom:
            if one.kind == "irregularity" and one.id not in ALONE:
                assert "remedied" in forms[one.id], one.id
                assert forms[one.id] & {"breached", "over"}, one.id


ALONE = {"12.9": "followed, it is 12.9.1 or 12.9.2"}
"""Irregularities whose remedy, once followed, is told under another atom."""


@pytest.mark.parametrize("atom", ["33.12(b)-3", "33.12(e)", "33.12(g)", "33.12(h)", "12.5", "12.6-b"])
def test_protected_rounds_are_given_up_too(atom: str) -> None:
    """Where the text says that play goes on, a dealer who gives the round up is simulated."""
    rules = "nsw-let-it-ride" if atom.startswith("12") else "nj-winners-pot-33"
    assert any(way.endswith(":over") for _, way in injections(load(rules), atom))


def test_every_mutation_is_named() -> None:
    """No mutation is there that no rule set names."""
    assert {name for rules in ids() for a in load(rules).rules.atom for name in a.inject} == set(MUTATIONS)


def test_what_stands_beside_is_of_the_same_rule_set() -> None:
    """What may stand beside an atom's verdict are verdicts of the same rule set, with a reason."""
    known = {a.id: rules for rules in ids() for a in load(rules).rules.atom}
    for atom, (others, reason) in BESIDE.items():
        assert {known[other.split()[0]] for other in others} <= {known[atom]}
        assert reason


def test_an_injection_is_told_by_form_by_name_or_by_both() -> None:
    """`ATOM`, `ATOM:FORM`, `ATOM:NAME` and `ATOM:NAME:FORM` choose; anything else is refused with what there is."""
    law = load("nj-winners-pot-33")
    assert len(injections(law, "33.12(e)")) == 3
    assert injections(law, "33.12(e):over") == (("33.12(e)", "burn_missed:over"),)
    assert injections(law, "33.12(e):burn_missed:over") == (("33.12(e)", "burn_missed:over"),)
    assert len(injections(law, "33.12(k):breached")) == 2
    with pytest.raises(ValueError, match=r"burn_missed:over"):
        injections(law, "33.12(e):too_much")


@pytest.mark.parametrize("rules", ids())
def test_the_command_deals_every_game(rules: str) -> None:
    """`misdeal simulate --rules ID` deals any of the games, with everything done wrong in turn."""
    told_of = CliRunner().invoke(
        main, ["simulate", "--rules", rules, "--rounds", "6", "--inject", "all", "--every", "2"]
    )
    assert told_of.exit_code == 0
    assert told_of.stdout.count('"round.opened"') == 6


def test_tables_of_all_games_can_be_dealt_at_once() -> None:
    """`--rules all` deals each game at its share of the tables, which have names of their own."""
    told_of = CliRunner().invoke(main, ["simulate", "--rules", "all", "--tables", "6", "--rounds", "1"])
    assert told_of.exit_code == 0
    opened = [msgspec.json.decode(line) for line in told_of.stdout.splitlines() if '"table.opened"' in line]
    assert len({o["table"] for o in opened}) == 6
    assert {o["rules"] for o in opened} == set(ids())


def test_an_atom_of_no_game_is_refused() -> None:
    """What no rule set can do wrong is a wrong usage, whichever games are dealt."""
    for rules in ("all", *ids()):
        refused = CliRunner().invoke(main, ["simulate", "--rules", rules, "--inject", "99.9"])
        assert refused.exit_code == 2
