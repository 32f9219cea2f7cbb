"""Where the checks and duties of this rule set are bound to their moments and atoms."""

from typing import Final

from stream.rulebook.checks import Checks
from stream.rulebook.duties import Duties

checks: Final = Checks()
duties: Final = Duties()
