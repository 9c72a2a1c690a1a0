"""The graph of the package's targets: which are needed, and which a change reaches. Scripts/changed and Scripts/mutate use it.
As a program it prints what Scripts/test builds: all tests, and the programs that they and the virtual host start."""
import collections
import json
import os
import pathlib
import subprocess

from options import stop

# The program of the tests loads or starts these, which is no dependency that SwiftPM knows: linked into a test they would break it.
LOADED = {
    "IntegrationTests": ["CFaultyDisk", "CFalseClock", "CFaultVFS", "CSpawn"],
    "GatewayAppTests": ["ibeacon-gateway", "CFaultyDisk", "CFalseClock", "CFaultVFS", "CSpawn"],
}
PROGRAM = "ibeacon-gateway"
# The programs that the virtual host starts.
VIRTUAL_HOST = [PROGRAM, "scanner-probe"]


class Target:
    def __init__(self, described):
        self.name = described["name"]
        self.is_test = described["type"] == "test"
        self.folder = described.get("path") or f"Tests/{self.name}"
        self.needs = {word[0] for each in described["dependencies"] for word in each.values()} | set(LOADED.get(self.name, []))


class Graph:
    """The targets of a package."""

    def __init__(self, description):
        """`description` is what `swift package dump-package` prints."""
        self.targets = {each["name"]: Target(each) for each in json.loads(description)["targets"]}

    @classmethod
    def of(cls, top):
        """The graph of the package in a folder."""
        said = subprocess.run(["swift", "package", "dump-package"], cwd=top, capture_output=True, text=True, check=False)
        if said.returncode:
            stop(70, f"Package.swift cannot be read:\n{said.stderr}")
        return cls(said.stdout)

    def needed(self, names):
        """These targets, and all that they need."""
        return self.closure(names, lambda target: target.needs)

    def reached(self, names, counts=lambda user, needed: True):
        """These targets, and all that need them; `counts` says whether one that needs another is reached through it."""
        users = collections.defaultdict(set)
        for target in self.targets.values():
            for name in target.needs & set(self.targets):
                if counts(target, self.targets[name]):
                    users[name].add(target.name)
        return self.closure(names, lambda target: users[target.name])

    def closure(self, names, following):
        found, waiting = set(), list(names)
        while waiting:
            name = waiting.pop()
            if name not in found and name in self.targets:
                found.add(name)
                waiting += following(self.targets[name])
        return found

    def owner(self, path):
        """The target that a file belongs to; None if it belongs to none."""
        folders = [str(folder) for folder in pathlib.PurePath(path).parents]
        owners = [target for target in self.targets.values() if target.folder in folders]
        return max(owners, key=lambda target: len(target.folder), default=None)


def environment(graph, names):
    """What a build of these targets alone, and of what they need, gets as its environment. Package.swift reads it."""
    return {**os.environ, "IBEACON_GATEWAY_TARGETS": listed(graph, names)}


def listed(graph, names):
    """These targets and what they need, as Package.swift reads them."""
    return ",".join(sorted(graph.needed(names)))


def main():
    graph = Graph.of(pathlib.Path(__file__).parent.parent)
    tests = [target.name for target in graph.targets.values() if target.is_test]
    print(listed(graph, [*tests, *VIRTUAL_HOST]))


if __name__ == "__main__":
    main()
