"""Installs what the suites need, in pinned versions, into ignored folders of the project."""

import os
import shutil
import subprocess
import sys
import threading

from runner.step import ROOT, Failed

# Two lanes may need the same folder or package.
APT, NPM, PIP = threading.Lock(), threading.Lock(), threading.Lock()

# The packages of the file and no others, only with the hashes that it names. A source package would
# run its own code to be built, and that code may fetch more.
PIP_FLAGS = ["--no-deps", "--require-hashes", "--only-binary", ":all:"]
# No package needs its scripts: esbuild finds its binary in an optional dependency.
NPM_FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]


def apt(runner, package, otherwise):
    """Installs a package of Debian. `otherwise` says what to do where that is impossible."""
    if not shutil.which("apt-get"):
        raise Failed(otherwise)
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    with runner.installing(), APT:
        for words in (["update", "-qq"], ["install", "-y", "-qq", package]):
            try:
                runner.command(*sudo, "apt-get", *words, DEBIAN_FRONTEND="noninteractive")
            except Failed as failure:
                raise Failed(f"{failure}; {otherwise}") from None


def python_of(runner, folder="tests"):
    """The binaries of a virtual environment with the packages of a folder's requirements.txt."""
    home = ROOT / folder / ".venv"
    wanted = home.parent / "requirements.txt"
    with runner.installing(), PIP:
        if is_installed(home, wanted):
            return home / "bin"
        if not (home / "bin/python").exists():
            # Debian has the module in a package of its own.
            probe = [sys.executable, "-c", "import ensurepip"]
            if subprocess.run(probe, capture_output=True, check=False).returncode:
                apt(runner, "python3-venv", "Python's venv is missing; install it")
            runner.command(sys.executable, "-m", "venv", home)
        pip = [home / "bin/python", "-m", "pip", "install", "--quiet"]
        runner.command(*pip, "--disable-pip-version-check", *PIP_FLAGS, "-r", wanted)
        mark_installed(home, wanted)
    return home / "bin"


def npm_ci(runner, folder):
    """The folder of an npm workspace, with the packages of its lock file."""
    if not shutil.which("npm"):
        raise Failed("npm is missing; install Node 20 or later")
    home = ROOT / folder
    wanted = home / "package-lock.json"
    with runner.installing(), NPM:
        if not is_installed(home / "node_modules", wanted):
            runner.command("npm", "ci", *NPM_FLAGS, cwd=home)
            mark_installed(home / "node_modules", wanted)
    return home


def is_installed(folder, wanted):
    stamp = folder / ".installed"
    return stamp.exists() and stamp.read_text() == wanted.read_text()


def mark_installed(folder, wanted):
    (folder / ".installed").write_text(wanted.read_text())


def chromium_of(runner):
    """The path of a Chromium. Its headless shell needs a third less of the processor."""
    if given := os.environ.get("CHROMIUM"):
        return given
    shell = "chromium-headless-shell"
    if not shutil.which(shell):
        try:
            apt(runner, shell, "Chromium is missing; install it and name it in CHROMIUM")
        except Failed:
            if not shutil.which("chromium"):
                raise
    return shutil.which(shell) or shutil.which("chromium")
