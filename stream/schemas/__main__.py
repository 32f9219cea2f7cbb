"""`python -m stream.schemas` writes what is generated into the checkout that it is called in."""

import sys
from pathlib import Path

from stream.schemas import NOTATION, write

if not Path(NOTATION).is_file():
    sys.exit(f"there is no {NOTATION} here; call this in the folder of the checkout")
for name in write(Path()):
    print(name)
