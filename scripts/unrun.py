"""Says at the end of the tests what could not be run for want of a tool on this machine."""

import shutil
import sys

TOOLS = {"kcat": "telemetry from a client that is not ours (Debian: apt-get install kcat)"}


def main() -> None:
    """Name each missing tool and what it would have tested."""
    for tool, what in TOOLS.items():
        if shutil.which(tool) is None:
            sys.stdout.write(f"not run, {tool} is not here: {what}\n")


if __name__ == "__main__":
    main()
