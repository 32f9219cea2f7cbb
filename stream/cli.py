"""The command line: `misdeal COMMAND`, each command in a file of its own, loaded when it is called."""

from importlib import import_module
from pkgutil import iter_modules

import click

import stream.commands


class Commands(click.Group):
    """A group whose commands are the modules of `stream.commands`, so that `replay` never imports Faust."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Name every module of `stream.commands`."""
        return sorted(m.name for m in iter_modules(stream.commands.__path__) if not m.name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one command asked for; None when there is no such module."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"stream.commands.{cmd_name}").command
        return command


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="misdeal", prog_name="misdeal")
def main() -> None:
    """Surveillance for casino card tables: telemetry in, verdicts out, each citing its paragraph."""
