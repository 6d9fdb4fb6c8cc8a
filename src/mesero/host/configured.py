"""The servers that hosts would use: each with what is started for it, and what its file has against it.

Pure. Of servers with one name in one host's files the last one is used; the others are spoken of as problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from mesero.host.configs import ConfigFile
from mesero.host.entries import Launch, ServerEntry, launch_for
from mesero.host.hosts import HOSTS
from mesero.host.problems import ConfigProblem
from mesero.host.variables import references_in

__all__ = ["ConfiguredServer", "configured_servers", "used_entries"]


class ConfiguredServer(msgspec.Struct, frozen=True, kw_only=True):
    """One server of one host.

    Attributes:
        entry: What stands in the file.
        launch: What the host does for it.
        problems: What is wrong with it in the file, and with the file as a whole, in the order of the file.
    """

    entry: ServerEntry
    launch: Launch
    problems: tuple[ConfigProblem, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """What its host asks the user for before it starts the server, by the names of the inputs."""
        if "input" not in HOSTS[self.entry.host].forms:
            return ()
        launch = self.launch
        texts = (*launch.command, *launch.env.values(), launch.cwd or "", launch.url or "")
        found = (
            one.name
            for text in (*texts, *launch.headers.values())
            for one in references_in(text)
            if one.form == "input"
        )
        return tuple(dict.fromkeys(found))


def used_entries(files: Iterable[ConfigFile]) -> list[ServerEntry]:
    """The servers that hosts use: of those with one name in one host's files, the last."""
    found: dict[tuple[str, str], ServerEntry] = {}
    for entry in (entry for file in files for entry in file.entries):
        found[entry.host, entry.name] = entry
    return list(found.values())


def configured_servers(
    files: Sequence[ConfigFile], across: Sequence[ConfigProblem], environment: Mapping[str, str]
) -> list[ConfiguredServer]:
    """The servers that hosts use, in the order of their files.

    Args:
        files: The files, read.
        across: What is wrong between them.
        environment: The variables that the hosts were started with.
    """
    by_source = {(file.source.file, file.source.host, file.source.scope): file for file in files}
    servers = []
    for entry in used_entries(files):
        file = by_source[entry.file, entry.host, entry.scope]
        own = [one for one in file.problems if one.server in (None, entry.name)]
        between = [one for one in across if one.server == entry.name]
        servers.append(
            ConfiguredServer(
                entry=entry,
                launch=launch_for(entry, environment),
                problems=(*own, *(one for one in between if _is_of(one, entry, files))),
            )
        )
    return servers


def _is_of(problem: ConfigProblem, entry: ServerEntry, files: Sequence[ConfigFile]) -> bool:
    """Whether a problem between files is about the files of this server's host."""
    return any(file.source.file == problem.file and file.source.host == entry.host for file in files)
