#!/usr/bin/env python3
"""Measures a durable copy beside `cp -a` followed by `sync -f`, by turns in one run, and prints ratios of medians.

    benches/copy.py FOLDER [--rounds N] [--only large|small]

Makes two trees in FOLDER (1 GiB in files of 8 MiB, and 5,000 files of 64 KiB), copies each by turns with both, and removes
everything again. Needs about 3 GiB there. The proof of the copy is timed by itself. Builds the release example first.
Absolute times on a busy machine mean little: quote the ratios. Peak memory is that of the whole program, proof included.
"""
import argparse, os, shutil, statistics, subprocess, sys, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")) / "release" / "examples" / "copy-tree"
TREES = {"large": (128, 8 << 20), "small": (5000, 64 << 10)}


def make(folder, files, size):
    block = os.urandom(1 << 20)
    for n in range(files):
        sub = folder / f"{n // 500:02}"
        sub.mkdir(parents=True, exist_ok=True)
        with open(sub / f"{n:05}", "wb") as out:
            left = size
            while left:
                left -= out.write(block[: min(left, len(block))])
    subprocess.run(["sync", "-f", folder], check=True)


def ours(source, stage, how):
    run = subprocess.Popen([TARGET, source, stage, how], stdout=subprocess.PIPE, text=True)
    words = run.stdout.read().split()
    _, status, usage = os.wait4(run.pid, 0)
    if status or words[words.index("equal") + 1] != "true":
        sys.exit(f"the copy failed or is not equal: {' '.join(words)}")
    value = lambda name: float(words[words.index(name) + 1])
    return value("copy"), value("proof"), usage.ru_maxrss


def theirs(source, stage):
    start = time.perf_counter()
    stage.mkdir()
    subprocess.run(["cp", "-a", source, stage], check=True)
    subprocess.run(["sync", "-f", stage], check=True)
    return time.perf_counter() - start


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--rounds", type=int, default=8)
    arguments.add_argument("--only", choices=TREES)
    arguments = arguments.parse_args()
    subprocess.run(["cargo", "build", "--release", "--locked", "--example", "copy-tree"], cwd=HERE, check=True)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as work:
        work = Path(work).resolve()
        for name, (files, size) in TREES.items():
            if arguments.only in (None, name):
                source = work / name
                make(source, files, size)
                measure(name, source, work / "stage", arguments.rounds, files, size)
                shutil.rmtree(source)


def measure(name, source, stage, rounds, files, size):
    ways = ("by-amount", "singly", "at-once")
    taken = {way: [] for way in ways}
    cp, proofs, memory = [], [], 0
    for n in range(rounds):
        # Each way comes first as often as the others, since one run may pay for what the one before it left to the disk.
        turn = ["cp", *ways]
        for way in turn[n % 4 :] + turn[: n % 4]:
            if way == "cp":
                cp.append(theirs(source, stage))
            else:
                copy, proof, peak = ours(source, stage, way)
                taken[way].append(copy)
                proofs.append(proof)
                memory = max(memory, peak)
            clear(stage)
    base = statistics.median(cp)
    print(f"{name}: {files} files of {size >> 10} KiB, {rounds} rounds, load {os.getloadavg()[0]:.1f}")
    print(f"  cp -a; sync -f   median {base:.2f} s (from {min(cp):.2f} to {max(cp):.2f})")
    for way in ways:
        t = taken[way]
        median = statistics.median(t)
        print(f"  copy {way:10}  median {median:.2f} s (from {min(t):.2f} to {max(t):.2f}), ratio {median / base:.2f}")
    print(f"  proof            median {statistics.median(proofs):.2f} s, ratio {statistics.median(proofs) / base:.2f}")
    print(f"  peak memory      {memory / 1024:.1f} MiB", flush=True)


def clear(stage):
    shutil.rmtree(stage)
    subprocess.run(["sync", "-f", stage.parent], check=True)


if __name__ == "__main__":
    main()
