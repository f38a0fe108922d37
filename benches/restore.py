#!/usr/bin/env python3
"""Measures a whole restore and a whole copy beside `cp -a` followed by `sync -f`, by turns, and prints ratios of medians.

    benches/restore.py FOLDER [--rounds N] [--only large|small|quarter]

Makes a save in FOLDER whose layer has 2 GiB in files of 8 MiB, then one of 20,000 files of 64 KiB, then one of a quarter of the
first, to compare peak memory. Each is restored into a small live world and copied to a new name by the engine as it is, from
the lock to the history (`examples/operate.rs`): staged, made durable, proved by reading everything again, exchanged, parked. What
a plan asks before is not in it, nor is what a game checks. Needs about 5 GiB there, and removes everything again. Builds the
release example first; WORLDKEEP_OPERATE names one that is built. Absolute times on a busy machine mean little.
"""
import argparse, os, shutil, statistics, subprocess, sys, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
TREES = {"large": (256, 8 << 20), "small": (20000, 64 << 10), "quarter": (64, 8 << 20)}


def program():
    if "WORLDKEEP_OPERATE" in os.environ:
        return Path(os.environ["WORLDKEEP_OPERATE"])
    subprocess.run(["cargo", "build", "--release", "--locked", "--example", "operate"], cwd=HERE, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")) / "release" / "examples" / "operate"


def fill(folder, files, size):
    block = os.urandom(1 << 20)
    for n in range(files):
        sub = folder / f"{n // 500:02}"
        sub.mkdir(parents=True, exist_ok=True)
        with open(sub / f"{n:05}", "wb") as out:
            left = size
            while left:
                left -= out.write(block[: min(left, len(block))])
    subprocess.run(["sync", "-f", folder], check=True)


def count(folder):
    return sum(len(files) for _, _, files in os.walk(folder))


class Save:
    def __init__(self, root, operate, files, size):
        self.worlds, self.operate, self.files = root / "worlds_local", operate, files
        self.keep, self.backup = root / ".worldkeep", self.worlds / "Midgard_backup"
        fill(self.backup, files, size)
        self.ready()

    def ready(self):
        for folder in (self.keep, self.worlds / "Midgard", self.worlds / "Asgard"):
            shutil.rmtree(folder, ignore_errors=True)
        fill(self.worlds / "Midgard", 3, 4096)

    def cp(self):
        start = time.perf_counter()
        subprocess.run(["cp", "-a", self.backup, self.worlds / "Asgard"], check=True)
        subprocess.run(["sync", "-f", self.worlds / "Asgard"], check=True)
        return time.perf_counter() - start, 0

    def ours(self, *words):
        start = time.perf_counter()
        run = subprocess.Popen([self.operate, *words, self.keep], stdout=subprocess.PIPE, text=True)
        said = run.stdout.read()
        _, status, usage = os.wait4(run.pid, 0)
        taken = time.perf_counter() - start
        made = self.worlds / ("Asgard" if words[0] == "copy" else "Midgard")
        if status or count(made) != self.files:
            sys.exit(f"{words[0]} failed: {said}")
        return taken, usage.ru_maxrss

    def once(self, way):
        if way == "cp":
            taken = self.cp()
        elif way == "copy":
            taken = self.ours("copy", self.backup, self.worlds / "Asgard")
        else:
            taken = self.ours("restore-folder", self.worlds / "Midgard", self.backup)
        self.ready()
        subprocess.run(["sync", "-f", self.worlds], check=True)
        return taken


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--rounds", type=int, default=6)
    arguments.add_argument("--only", choices=TREES)
    arguments = arguments.parse_args()
    operate = program()
    ways = ["cp", "copy", "restore"]
    for name, (files, size) in TREES.items():
        if arguments.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory(dir=arguments.folder) as work:
            save = Save(Path(work).resolve(), operate, files, size)
            taken, peak = {way: [] for way in ways}, {way: 0 for way in ways}
            for n in range(arguments.rounds):
                # Each comes first as often as the others, since one may pay for what the one before it left to the disk.
                for way in ways[n % 3 :] + ways[: n % 3]:
                    seconds, memory = save.once(way)
                    taken[way].append(seconds)
                    peak[way] = max(peak[way], memory)
        base = statistics.median(taken["cp"])
        print(f"{name}: {files} files of {size >> 10} KiB, {arguments.rounds} rounds, load {os.getloadavg()[0]:.1f}")
        for way in ways:
            t = taken[way]
            median = statistics.median(t)
            memory = f", peak memory {peak[way] / 1024:.1f} MiB" if peak[way] else ""
            print(f"  {way:8} median {median:.2f} s (from {min(t):.2f} to {max(t):.2f}), ratio {median / base:.2f}{memory}", flush=True)


if __name__ == "__main__":
    main()
