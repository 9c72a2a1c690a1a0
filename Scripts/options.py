"""The reader of options of all scripts in Python, and how they end. Scripts in bash have lib.sh.

What a script prints for `--help` is its docstring, and the list of its options with the help of each.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
# The script's own name, as it is typed in the folder of the project.
SCRIPT = os.path.relpath(os.path.realpath(sys.argv[0]), TOP)
# What is kept from run to run, also for other clones.
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ibeacon-gateway"


def stop(code, text):
    """Ends the script with a code of sysexits.h."""
    print(f"{os.path.basename(SCRIPT)}: {text}", file=sys.stderr)
    sys.exit(code)


def need_root(why):
    """Ends the script, before it does anything, where it is not run as root."""
    if os.geteuid() != 0:
        stop(77, f"run this as root: {why}")


def need_program(name, group):
    """The group is that of Scripts/install-dependencies which has the program."""
    if not shutil.which(name):
        stop(69, f"there is no '{name}' on the PATH; install it with: Scripts/install-dependencies {group}")


def need_swift():
    if not shutil.which("swift"):
        stop(69, "there is no 'swift' on the PATH; install a Swift 6.2 or later toolchain "
                 "(see https://www.swift.org/install/linux/) and try again")


class Options(argparse.ArgumentParser):
    """To be made and asked before the script does anything. What it does not know ends the script with 64."""

    def __init__(self, description):
        super().__init__(prog=SCRIPT, description=description.strip(), allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def parse_args(self, args=None, namespace=None):
        # argparse would tell of a missing word first, and not of the option that does not exist.
        for word in sys.argv[1:] if args is None else args:
            name = word.partition("=")[0]
            if word == "--":
                break
            if not re.match(r"--?[a-z]", name):
                continue
            if name not in self._option_string_actions and (name[:2] == "--" or name[:2] not in self._option_string_actions):
                self.error(f"there is no option '{name}'")
        return super().parse_args(args, namespace)

    def error(self, message):
        stop(64, f"{message}; see {SCRIPT} --help")
