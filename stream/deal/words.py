"""The field types of events: ids, numbers and the closed lists of words, with their bounds.

Closed lists are `Literal` types: a seat is then also a position to the type checker, a misspelt word in a
comparison is an error there, and decoding refuses every other word.
"""

from datetime import datetime
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta

MOST: Final = 2**53 - 1  # integers fit 53 bits, so that every JSON reader keeps them whole

# The pattern stands in the schema only: `wire` checks ids itself, ten times cheaper than a regular
# expression for each field of each event.
Id = Annotated[str, Meta(min_length=1, max_length=64, extra_json_schema={"pattern": "^[!-~]{1,64}$"})]
Count = Annotated[int, Meta(ge=0, le=MOST)]
Ordinal = Annotated[int, Meta(ge=1, le=10_000)]
Permille = Annotated[int, Meta(ge=0, le=1000)]
Amount = Annotated[int, Meta(ge=0, le=MOST)]
When = Annotated[datetime, Meta(tz=True)]
Setting = bool | Annotated[int, Meta(ge=-MOST, le=MOST)] | Annotated[str, Meta(max_length=200)]

Seat = Literal["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9"]
Position = Literal["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "D", "C"]
ButtonPlace = Literal["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "D"]
Facing = Literal["up", "down"]
Hand = Literal["left", "right"]
Side = Literal["left", "right"]
By = Literal["dealer", "player", "shuffler", "unknown"]
Source = Literal["manual_shoe", "auto_shoe", "hand"]
Into = Literal["shuffler", "manual_shoe", "auto_shoe", "hand"]
Place = Literal["source", "stub", "drawn", "rack"]
Zone = Literal["container", "away"]
Call = Literal["no_more_bets", "misdeal", "hand_dead", "hand_void", "all_void", "round_void"]
Outcome = Literal["paid", "collected", "returned"]
Decision = Literal["fold", "check", "call", "raise", "double", "ride", "retrieve", "stand", "hit"]
Role = Literal["dealer", "supervisor", "surveillance"]
Order = Literal["play_first", "separate", "english_only", "preclude", "lifted"]
Note = Literal["suspicion", "not_english", "other"]
Ruling = Literal["upheld", "overruled"]
Mode = Literal["shuffle", "sort"]
Method = Literal["device", "hand"]
Kind = Literal["shuffler", "auto_shoe", "manual_shoe"]
Sense = Literal[
    "draws", "identity", "placements", "facing", "turns", "burns", "discards", "stub", "decks", "deck_zone",
    "dealer_hands", "button", "shoe_status", "shuffler", "shuffler_count", "installations", "wagers",
    "settlement", "announcements", "decisions", "touches", "handling", "viewing", "presence", "seating",
    "supervisor",
]  # fmt: skip

SEATS: Final[tuple[Seat, ...]] = get_args(Seat)
SENSES: Final[tuple[Sense, ...]] = get_args(Sense)
