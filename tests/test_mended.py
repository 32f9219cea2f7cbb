"""Defects that were found and mended, each the smallest log that showed it."""

from msgspec.structs import replace
from story import judged

from stream.deal import events as ev
from stream.deal.notation import parse, show
from stream.deal.verdicts import body, in_order
from stream.deal.wire import Reader, Refusal, encode
from stream.replay import snapshot
from stream.replay.table import Table
from stream.simulate.tables import Order, reports


def _said(events: list[ev.Event], *, each: bool = False, store: bool = False) -> list[bytes]:
    """The bodies in force; `each`: settled after every event, `store`: written down and read back after it."""
    table = Table(events[0].table)
    for event in events:
        table.hear(event)  # type: ignore[arg-type]  # every event is one of the union
        if each or store:
            table.settle()
        if store:
            table = snapshot.read(snapshot.head(table), {name: s.record() for name, s in table.closed()})
    table.settle()
    if store:
        table.recall({s.name for s in table.segments})
        table.settle()
    return [body(v) for v in in_order(list(table.in_force()))]


def test_an_outage_has_the_same_evidence_after_a_restart() -> None:
    """An outage that a device announced itself rests on the same events before and after a table is read back."""
    events = parse("- open:nj-double-down-stud-17 offline:floor\n@r1")
    assert _said(events, store=True) == _said(events)


def test_a_reused_round_stays_told_when_a_gap_in_it_is_filled() -> None:
    """A round under a used id stays told, also when a late event of the newest round has its segment cut anew."""
    *events, early, late = parse("- open:nj-double-down-stud-17\n@r1 .\n@r1 S1$ante:10 S2$ante:10")
    assert _said([*events, late, early], each=True) == _said([*events, early, late])


def test_a_late_event_with_a_later_clock_orders_what_follows() -> None:
    """The running maximum of a device's clock counts events that came late, for those that come after them too."""
    opened, first, late, last = parse(
        "- open:nj-double-down-stud-17 nmb{device=desk,seq=1} ~9000 nmb{device=desk,seq=0} ~-8000 "
        "nmb{device=desk,seq=2}"
    )
    assert _said([opened, first, late, last]) == _said([opened, late, first, last])


def test_a_clock_that_lost_its_place_orders_nothing() -> None:
    """Of two events under one identity only the one in force has a say in the running maximum of its device."""
    events = parse("@r1{seq=1} ~56000 S5$ante:10{seq=1} ~-44200 S2$double:10{seq=5}")
    assert _said(events) == _said(events[::-1])


def test_a_corrected_time_orders_what_follows() -> None:
    """The running maximum counts a corrected event with its right time, whenever the correction came."""
    wrong, right = parse(
        '- ~197900 fix{device=layout,seq=7,corrects={"device":"layout","boot":0,"seq":2},event={"type":"round.closed",'
        '"table":"T1","device":"layout","boot":0,"seq":2,"at":"2026-01-05T12:03:39.8Z","clock_ms":5}} '
        "~-188600 S1<1=Ac^{seq=0}"
    )
    assert _said([wrong, right]) == _said([right, wrong])


def test_a_round_at_a_closed_table_is_told_by_both_ways() -> None:
    """A round after the closing of a table that was never opened is told the first time as after a restart."""
    events = parse("- shut\n@r1\n@r2")
    assert _said(events, store=True) == _said(events)


def test_a_deal_cut_off_by_the_next_round_is_told_by_both_ways() -> None:
    """A deal that was left unfinished when the next round opened is told the first time as after a restart."""
    events = parse(
        "- open:nj-double-down-stud-17 shuffle:A shuffled:A=52 load:A>manual_shoe#SH1\n@r1 S1$ante:10 nmb S1=9h^\n@r2 ."
    )
    assert "17.8(b)-2" in [v.atom for v in judged(events)]


def test_an_id_may_end_in_a_backslash() -> None:
    """Every id that the wire admits can be written in the notation."""
    said = parse('nmb{device="a",clock_ms=7}')[1]
    assert isinstance(said, ev.Announced)
    odd = replace(said, device="a\\", boot=3)
    assert parse(show([odd])) == [odd]


def test_a_round_id_may_hold_any_character() -> None:
    """A round whose id is no bare word is opened once when it is read back."""
    opened = ev.RoundOpened(
        table="T1", device="floor", boot=0, seq=0, at=parse("nmb")[0].at, clock_ms=5, round="2026/17"
    )
    assert parse(show([opened])) == [opened]


def test_a_repeated_key_is_refused_whatever_the_blanks() -> None:
    """A key that stands twice is refused, also where one of the two has a blank before its colon."""
    value = encode(parse("S1<1=9h^")[1]).replace(b'"draw":1', b'"draw" :1,"draw":2')
    assert isinstance(Reader().read(value), Refusal)


def test_senses_follow_the_event_in_force() -> None:
    """What a device carries is told by its events in force, whichever of two under one identity came first."""
    events = parse(
        "- ~11900 C1<3=??v{seq=12} ~1300 C2<4=Kd^{seq=3} ~4600 S1$ante=collected:10{seq=6} "
        "~-16800 open:nj-double-down-stud-17{seq=0} ~41600 C1^=Ad{seq=12}\n~-37600 @0-r1"
    )
    assert _said(events) == _said(events[::-1])


def test_a_dead_sense_can_be_simulated_at_its_highest_rate() -> None:
    """Every device fault can be simulated at the rate 1."""
    assert list(reports(Order("nj-double-down-stud-17", 1, faults=(("sense_dead", 1.0),))))


def test_an_event_past_the_kept_history_is_told_once_a_boot() -> None:
    """It changes nothing any more, and nobody has to look into a log to learn that it came."""
    dealt = "S1$ante:10 nmb S1=9h^ C1=??v C2=Td^ C3=2d^ C4=3d^ nmb C1^=Kd S1$ante=collected:10 ."
    again = "- stub- stub# shuffle:A shuffled:A=52 load:A>manual_shoe#SH1"
    given = "shuffle:A shuffled:A=52 load:A>manual_shoe#SH1"
    opened = '- open:nj-double-down-stud-17{approved=["SH1"],options={"rounds_kept":2}} ' + given
    events = parse("\n".join([opened, *(line for _ in range(6) for line in (dealt, again))]))
    late = [e for e in events if e.device == "layout"][3:5]
    table = Table("T1")
    for event in (*(e for e in events if e not in late), *late):
        table.hear(event)  # type: ignore[arg-type]  # of the union
        table.settle()
    told = [v for v in (*table.left, *table.in_force()) if v.code == "event_too_late"]
    assert [(v.scope.device, v.evidence[0].seq) for v in told] == [("layout", 3)]
    assert table.counts.too_late == 2
