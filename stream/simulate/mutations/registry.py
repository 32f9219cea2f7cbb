"""The register of what can be done wrong, by the names that stand in the rule sets' data (`inject`)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from stream.deal.words import Source
from stream.simulate.round import Change, Round

Form = Literal["breached", "remedied", "over"]
Needs = Source | Literal["shoe", "any", "free_seat"]
Edit = Callable[[Round], None]


@dataclass(frozen=True)
class Mutation:
    """One way to do something wrong: a change of the dealing, or an edit of what happened; and in which forms."""

    name: str
    forms: tuple[Form, ...]
    needs: Needs
    change: Change | None = None
    edit: Edit | None = None


MUTATIONS: Final[dict[str, Mutation]] = {}


def edited(needs: Needs = "any") -> Callable[[Edit], Edit]:
    """Register a function that edits the happenings of a lawful round."""

    def register(edit: Edit) -> Edit:
        MUTATIONS[edit.__name__] = Mutation(edit.__name__, ("breached",), needs, edit=edit)
        return edit

    return register


def changed(*forms: Form, needs: Needs = "any") -> Callable[[Change], Change]:
    """Register a function that changes the dealing; without forms it only breaks its atom."""

    def register(change: Change) -> Change:
        name = change.__name__
        MUTATIONS[name] = Mutation(name, forms or ("breached",), needs, change=change)
        return change

    return register


def ways(name: str) -> tuple[str, ...]:
    """The ways of a mutation: its name, or `name:form` where it has several forms."""
    forms = MUTATIONS[name].forms
    return tuple(f"{name}:{form}" for form in forms) if forms != ("breached",) else (name,)


def known(way: str) -> tuple[Mutation, Form]:
    """The mutation and the form of a way."""
    name, _, form = way.partition(":")
    return MUTATIONS[name], next(f for f in MUTATIONS[name].forms if form in ("", f))
