"""The test command: its steps, what it installs, how it counts tests and adds up times."""

import contextlib
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from runner import installing
from runner.results import counted
from runner.step import Step
from runner.steps import GROUPS, STEPS
from runner.times import summary, without_installing


def step(name, lane, seconds, installing=0, needs=()):
    made = Step(name, "", None, lane, needs)
    made.seconds, made.installing = seconds, installing
    return made


class Steps(unittest.TestCase):
    def test_each_need_is_an_earlier_step(self):
        known = set()
        for each in STEPS:
            self.assertLessEqual(set(each.needs), known, each.name)
            known.add(each.name)
        for names in GROUPS.values():
            self.assertLessEqual(set(names), known)


class Installs(unittest.TestCase):
    """Fails if a package could run code of its own, or differ from the one that was reviewed."""

    def commands_of(self, install):
        commands = []
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in ("requirements.txt", "package-lock.json"):
                (root / name).write_text("")
            for made in (".venv/bin", "node_modules"):
                (root / made).mkdir(parents=True)
            (root / ".venv/bin/python").touch()
            runner = mock.Mock()
            runner.installing.return_value = contextlib.nullcontext()
            runner.command = lambda *words, **_: commands.append([str(word) for word in words])
            with mock.patch.object(installing, "ROOT", root):
                install(runner, "")
        return commands

    def test_pip_installs_only_the_listed_wheels(self):
        [command] = self.commands_of(installing.python_of)
        for flag in ("--require-hashes", "--no-deps"):
            self.assertIn(flag, command)
        self.assertEqual(command[command.index("--only-binary") + 1], ":all:")

    def test_npm_runs_no_scripts_of_packages(self):
        [command] = self.commands_of(installing.npm_ci)
        self.assertEqual(command[:3], ["npm", "ci", "--ignore-scripts"])


class Counts(unittest.TestCase):
    def test_the_summaries_of_each_test_runner_are_read(self):
        for text, expected in {
            "     Summary [  1.2s] 10/12 tests run: 7 passed (1 slow), 2 failed, 1 timed out, "
            "2 skipped\n": (7, 3, 2),
            "test result: ok. 3 passed; 1 failed; 4 ignored; 0 measured\n": (3, 1, 4),
            "# pass 3\n# fail 2\n# skipped 1\n": (3, 2, 1),
            "===== 3 failed, 20 passed, 2 skipped, 1 error in 4.2s =====\n": (20, 4, 2),
            "20 passed, 3 failed, 2 skipped\n": (20, 3, 2),
            "the 20 passed, 3 failed\n": (0, 0, 0),
        }.items():
            self.assertEqual(counted(text), expected, text)


class Times(unittest.TestCase):
    def test_installing_in_one_lane_is_left_out(self):
        self.assertEqual(without_installing([step("a", "x", 60, installing=20)]), 40)

    def test_installing_during_the_build_saves_nothing(self):
        build = step("build", "build", 100)
        lint = step("lint", "wait", 50, installing=40)
        pages = step("pages", "wait", 30, needs=["build"])
        self.assertEqual(without_installing([build, lint, pages]), 130)

    def test_installing_after_the_build_is_left_out(self):
        build = step("build", "build", 100)
        pages = step("pages", "wait", 30, installing=10, needs=["build"])
        self.assertEqual(without_installing([build, pages]), 120)

    def test_the_summary_says_what_is_left(self):
        steps = [step("a", "x", 810, installing=10)]
        expected = "built and tested in 13 min 20 s; 1 min 40 s are left of 15"
        self.assertEqual(summary(steps, True), f"{expected}; installing took another 10 s")
        self.assertEqual(summary([step("a", "x", 33)], False), "built and tested in 33 s")
        over = summary([step("a", "x", 960)], True)
        self.assertEqual(over, "built and tested in 16 min 0 s; 1 min 0 s over 15 min")


if __name__ == "__main__":
    unittest.main()
