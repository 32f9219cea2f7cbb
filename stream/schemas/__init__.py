"""What others need to write telemetry and to read verdicts, generated from the types: schemas, examples, AsyncAPI.

`python -m stream.schemas` writes them into a checkout; a test fails where the committed files differ. Nothing
here runs in the worker.
"""

from pathlib import Path
from typing import Final

import orjson

from stream.schemas import asyncapi, definitions, examples, tokens

NOTATION: Final = "docs/notation.md"


def generate() -> dict[str, bytes]:
    """All files that are generated whole: path in the checkout -> content. The same types give the same bytes."""
    files = {
        "schemas/events.schema.json": definitions.events(),
        "schemas/verdict.schema.json": definitions.verdict(),
        "schemas/evidence.schema.json": definitions.evidence(),
        "schemas/asyncapi.json": asyncapi.document(),
        "schemas/examples/verdict.json": examples.verdict_body(),
        "schemas/examples/evidence.json": examples.evidence_body(),
    }
    files |= {f"schemas/examples/{tag}.json": event for tag, event in examples.telemetry().items()}
    return {path: orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n" for path, value in files.items()}


def write(folder: Path) -> list[str]:
    """Write what differs into a checkout, the table of tokens in its docs too; returns the paths written.

    Raises FileNotFoundError, and writes nothing, where the folder has no docs/notation.md.
    """
    files = generate() | {NOTATION: tokens.put_into((folder / NOTATION).read_text("utf-8")).encode()}
    written = []
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)
            written.append(name)
    return written
