#!/usr/bin/env python3
"""Measures worldkeep beside peers on the same machine in the same run, and prints ratios.

    benches/peers.py first-frame --ttff PATH   first useful frame, idle, keys and bursts, beside nnn on the same tree
    benches/peers.py full-check FILE.db        a full check of a world beside `cat` of the same file
    benches/peers.py parser FILE.db --jar JAR  the same check beside Valheim Save Tools, which needs Java
    benches/peers.py list                      `list --json` on 50 and 500 worlds: cost a layer, and growth

`first-frame` needs nnn and a script that measures a terminal program in a pseudo-terminal and prints one JSON object with
expect_ms, idle_bytes, idle_switches, key_bytes, burst_cpu_ms and the like; PATH names it. Builds the release binary and
the tree generator first. Absolute times on a busy machine mean little: quote the ratios.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")) / "release"
BINARY = TARGET / "worldkeep"


def build():
    subprocess.run(["cargo", "build", "--release", "--locked", "--bins", "--example", "make-tree"], cwd=HERE, check=True)


def make_tree(folder, profiles, worlds, layers):
    subprocess.run([TARGET / "examples" / "make-tree", folder, str(profiles), str(worlds), str(layers)], check=True)


def environment(home):
    keep = {k: os.environ[k] for k in ("PATH", "LANG", "LC_ALL") if k in os.environ}
    return {**keep, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home), "TZ": "UTC"}


def timed(command, env):
    """Wall, CPU seconds and peak KiB of one run; its output goes nowhere."""
    start = time.perf_counter()
    child = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def paired(a, b, env, runs):
    """Two commands in turn, after one warm-up each."""
    timed(a, env), timed(b, env)
    return [(timed(a, env), timed(b, env)) for _ in range(runs)]


def median(values):
    return statistics.median(list(values))


def first_frame(options):
    build()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        make_tree(tree, 10, 10, 20)
        env = environment(folder)

        def measure(expect, command, *more):
            words = [sys.executable, options.ttff, "--json", "--expect", expect, "--runs", "1", *more]
            out = subprocess.run([*words, "--env", f"HOME={folder}", "--", *command], env=env, check=True, capture_output=True)
            return json.loads(out.stdout)

        ours = [str(BINARY), "--no-config", str(tree)]
        # A world's name with its verdict in the same line, in words or as a sign.
        verdict = options.expect
        peer = ["nnn", "-A", str(tree)]
        pairs = [(measure(verdict, ours, "--idle", "0"), measure("profile", peer, "--idle", "0")) for _ in range(options.runs)]
        ratio = median(a["expect_ms"] / b["expect_ms"] for a, b in pairs)
        print(f"first useful frame: {median(a['expect_ms'] for a, _ in pairs):.1f} ms, nnn {median(b['expect_ms'] for _, b in pairs):.1f} ms, ratio {ratio:.2f}")
        whole = measure(verdict, ours, "--idle", "3", "--keys", "jjjjkkkk", "--burst", "200")
        for key in sorted(whole):
            if key.startswith(("idle_", "key_", "burst_", "startup_", "peak_")):
                print(f"  {key}: {whole[key]}")


def beside_metadata(file, folder):
    """A copy of a .db with metadata beside it: a world without is looked at twice, a quarter of a second apart."""
    worlds = Path(folder) / "worlds_local"
    worlds.mkdir()
    copy = Path(shutil.copy(file, worlds / Path(file).name))
    own = Path(file).with_suffix(".fwl")
    made = next(HERE.glob("fixtures/pair-v36/**/*.fwl"))
    shutil.copy(own if own.exists() else made, copy.with_suffix(".fwl"))
    return copy


def full_check(options):
    build()
    size = Path(options.file).stat().st_size
    with tempfile.TemporaryDirectory() as folder:
        env = environment(folder)
        file = str(beside_metadata(options.file, folder))
        command = [str(BINARY), "--no-config", "verify", "--json", file]
        facts = json.loads(subprocess.run(command, env=env, capture_output=True).stdout)
        assert f'"objects": {options.objects}' in json.dumps(facts) or not options.objects, "another count of objects"
        pairs = paired(command, ["cat", file], env, options.runs)
        empty = [timed([str(BINARY), "--version"], env) for _ in range(options.runs)]
    ours = median(a[0] for a, _ in pairs)
    peer = median(b[0] for _, b in pairs)
    start = median(wall for wall, _, _ in empty)
    cpu, start_cpu = median(a[1] for a, _ in pairs), median(cpu for _, cpu, _ in empty)
    peak = max(a[2] for a, _ in pairs) * 1024
    print(f"file: {size} bytes")
    print(f"verify: {ours * 1e3:.2f} ms ({cpu * 1e3:.2f} ms CPU), cat: {peer * 1e3:.2f} ms, ratio {median(a[0] / b[0] for a, b in pairs):.2f}")
    print(f"verify less an empty start: {size / max(ours - start, 1e-6) / 1e6:.0f} MB/s")
    print(f"CPU of verify less an empty start: {size / max(cpu - start_cpu, 1e-6) / 1e6:.0f} MB/s")
    print(f"peak memory: {peak} bytes, over the file's size: {(peak - size) / 2**20:.1f} MiB")


def beside_parser(options):
    build()
    with tempfile.TemporaryDirectory() as folder:
        env = environment(folder)
        file = str(beside_metadata(options.file, folder))
        ours = [str(BINARY), "--no-config", "verify", "--json", file]
        java = ["java", "-jar", options.jar]
        # The least that makes it read the whole world: no names looked up, nothing written.
        theirs = [*java, file, "--listGlobalKeys", "--skipResolveNames"]
        subprocess.run(theirs, env=env, check=True, capture_output=True)
        pairs = paired(ours, theirs, env, options.runs)
        empty = paired([str(BINARY), "--version"], java, env, options.runs)
    for at, what in ((0, "wall"), (1, "CPU"), (2, "peak memory")):
        print(f"{what}: parser / verify = {median(b[at] / a[at] for a, b in pairs):.1f}")
    rest = [median(run[side][0] for run in pairs) - median(run[side][0] for run in empty) for side in (0, 1)]
    print(f"wall less an empty start of each: parser / verify = {rest[1] / max(rest[0], 1e-6):.1f}")


def list_cost(options):
    build()
    costs = {}
    with tempfile.TemporaryDirectory() as folder:
        env = environment(folder)
        for worlds in (50, 500):
            tree = Path(folder) / f"tree{worlds}"
            make_tree(tree, worlds // 10, 10, 10)
            command = [str(BINARY), "--no-config", "list", "--json", str(tree)]
            out = subprocess.run(command, env=env, check=True, capture_output=True).stdout
            layers = sum(len(w["layers"]) for p in json.loads(out)["profiles"] for w in p["worlds"])
            timed(command, env)
            runs = [timed(command, env) for _ in range(options.runs)]
            costs[worlds] = (layers, median(r[1] for r in runs), median(r[0] for r in runs))
            shutil.rmtree(tree)
    for worlds, (layers, cpu, wall) in costs.items():
        print(f"{worlds} worlds, {layers} layers: {cpu * 1e3:.1f} ms CPU, {wall * 1e3:.1f} ms wall, {cpu / layers * 1e6:.1f} us CPU a layer")
    growth = costs[500][1] / costs[50][1]
    print(f"growth of CPU from 50 to 500 worlds: {growth:.1f} times for {costs[500][0] / costs[50][0]:.1f} times the layers")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    frame = verbs.add_parser("first-frame")
    frame.add_argument("--ttff", required=True)
    frame.add_argument("--expect", default=r"World\S*.*(whole|✓)")
    frame.add_argument("--runs", type=int, default=9)
    check = verbs.add_parser("full-check")
    check.add_argument("file")
    check.add_argument("--objects", type=int, help="fail unless the check counts this many objects")
    check.add_argument("--runs", type=int, default=15)
    peer = verbs.add_parser("parser")
    peer.add_argument("file")
    peer.add_argument("--jar", required=True)
    peer.add_argument("--runs", type=int, default=9)
    cost = verbs.add_parser("list")
    cost.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    {"first-frame": first_frame, "full-check": full_check, "parser": beside_parser, "list": list_cost}[options.verb](options)


if __name__ == "__main__":
    main()
