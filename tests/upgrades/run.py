#!/usr/bin/env python3
"""Upgrades and rolls back under load.

`tests/upgrades/run.py [--host local|emulator] [--from COMMIT] [--to COMMIT]`

It plays one deployment with the binaries of two commits, which it builds, on both hosts or on one.
A folder of binaries may be given instead of a commit.

- `local`: the local host on one data folder. The older binary is killed under load, the newer one
  continues and is killed, and so on, back and forth.
- `emulator`: the template on an emulator of AWS, with one table and one set of queues. The
  functions are replaced one by one under load, so that each one works while each other one is the
  other version. It needs the packages of tests/requirements.txt.

People post over HTTP and over a socket that follows all spaces, a crowd follows one of them, forms
wait, plans and signed webhooks trigger agents, and both versions change what is stored. In the end
nothing that was acknowledged may be lost, each message has its runs once and each run its answer
once, each form is answered once, no job is a dead letter or unreadable, and both versions can read
everything.
"""

import argparse
import pathlib
import sys
import time

from builds import binaries_of
from judge import judge
from load import CALM, FAST, HOOK_SECRET, Load
from versions import ALL, NONE, Phase

# How fast everyone posts, the part of the answers that every page of the crowd must see while they
# are
# written, and how many more messages are acknowledged in each phase. A restart of the local host
# closes
# all pages, and the emulator runs all of AWS in one thread.
PACES = {"local": (FAST, 0.5, 60), "emulator": (CALM, 0.9, 20)}


def host_of(name):
    if name == "local":
        from local import LocalHost

        return LocalHost
    from stack import Stack

    return Stack


def play(host, pauses, watched, messages):
    load, started = Load(host, pauses, watched), time.monotonic()
    for number, phase in enumerate(host.phases()):
        host.enter(phase)
        if number == 0:
            load.prepare()
        load.run_until(len(load.acknowledged) + messages)
        load.change(phase.name)
        print(
            f"{time.monotonic() - started:4.0f} s  {phase.name}: "
            f"{len(load.acknowledged)} messages acknowledged",
            flush=True,
        )
    load.stop()
    # Both versions read everything.
    for phase in (Phase("older", NONE), Phase("newer", ALL)):
        host.enter(phase)
        load.wait_until_quiet()
        stop_at(judge(load), f"faults, seen by the {phase.name} version")
    stop_at(load.crowd.faults(), "connections of the crowd")
    load.follower.stopping.set()
    load.crowd.stopping.set()
    stop_at(host.faults(), "lines in the logs, or jobs")
    print(f"{load.summary()}; {host.summary()}")


def stop_at(faults, what):
    faults = list(faults)
    if faults:
        print("\n".join(fault[:600] for fault in faults[:20]))
        raise SystemExit(f"{len(faults)} {what}")


def main():
    flags = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    release = (pathlib.Path(__file__).parent / "release").read_text().strip()
    flags.add_argument("--host", choices=list(PACES), help="only this host")
    flags.add_argument(
        "--from",
        dest="older",
        default=release,
        help="the older commit, or a folder with its binaries",
    )
    flags.add_argument(
        "--to", dest="newer", default="HEAD", help="the newer commit, or a folder with its binaries"
    )
    options = flags.parse_args()
    older, newer = binaries_of(options.older), binaries_of(options.newer)
    hosts, started = [options.host] if options.host else list(PACES), time.monotonic()
    for name in hosts:
        print(f"{name}, from {older.name} to {newer.name}", flush=True)
        with host_of(name)(older, newer, HOOK_SECRET) as host:
            play(host, *PACES[name])
    print(f"{len(hosts)} passed in {time.monotonic() - started:.1f}s")


if __name__ == "__main__":
    sys.exit(main())
