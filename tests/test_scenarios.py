"""Every story of every rule set: what happened at the table, and the verdicts in force at the end."""

import pytest
from story import FOLDER, Story, judged, stories, told

ALL = [s for path in sorted(FOLDER.glob("*.txt")) for s in stories(path)]


@pytest.mark.parametrize("story", ALL, ids=[f"{s.place}-{s.atom}-{s.shows}" for s in ALL])
def test_story(story: Story) -> None:
    """The verdicts in force are those the story tells, all of them and no other."""
    assert told(judged(story.events())) == story.expected(), str(story)
