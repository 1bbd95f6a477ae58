#!/usr/bin/python3
"""Kills a sweep again and again and requires the results of one that was left alone.

    tests/soak/kills.py HEADCOUNT [--kills 40] [--seed 1] [--work DIR]

One sweep runs undisturbed. Then, for threads 1 and 2 and jobs 1 and 2, the same sweep is killed
(SIGKILL) at random moments of training, measuring, pruning and publishing, each time started again,
and at last finished; `headcount same` must find every trial equal to the undisturbed one. A third
of the kills hit only the runner, or only one trial's process. Prints how many kills hit which stage.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

SPEC = """
seed = 1
[experiment]
name = soak
[task]
data = synthetic.recall
recall-examples = 120
[model]
layers = 2
d-model = 32
dropout = 0.1
[train]
steps = 250
batch-tokens = 512
shards = 3
validate-every = 50
[evaluate]
parameters = best
[measure]
measures = entropy, importance.gradient, importance.ablation
during-training = confidence
patterns = 2
[prune]
methods = importance.gradient, importance.gradient-iterative, random
step = 0.1
orders = 4
build-at = (25 50 75)
[axis]
model.heads = 2, 4
seed = 1 .. 2
"""

STAGES = ["train", "evaluate", "measure", "prune"]  # then the result is published


def children_of(pid):
    tasks = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(word) for word in tasks.read_text().split()]
    except OSError:
        return []


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def stage_of(curve):
    """The stage a running trial is in, after what it last wrote to its curve."""
    stage = STAGES[0]
    try:
        lines = curve.read_bytes().splitlines()
    except OSError:
        return None
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if "stage" in event:
            place = STAGES.index(event["stage"]) + 1
            stage = STAGES[place] if place < len(STAGES) else "publish"
    return stage


class Sweep:
    def __init__(self, program, spec, out, threads, jobs):
        self.out = out
        self.command = [program, "run", spec, "--out", out, "--threads", str(threads), "--jobs", str(jobs),
                        "--checkpoint", "15", "--retries", "1000", "--quiet"]

    def start(self):
        return subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def running(self, process):
        """Stages of the trials that its children work on, by the locks these hold."""
        stages = {}
        workers = children_of(process.pid)
        for lock in self.out.glob("*.lock"):
            trial = lock.name[: -len(".lock")]
            try:
                owner = json.loads(lock.read_bytes())["pid"]
            except (OSError, ValueError, KeyError):
                continue
            if owner in workers and not (self.out / (trial + ".h5")).exists():
                stages[trial] = stage_of(self.out / (trial + ".jsonl"))
        return stages

    def finish(self):
        process = self.start()
        _, errors = process.communicate()
        if process.returncode != 0:
            sys.exit(f"the sweep failed ({process.returncode}):\n{errors.decode()}")

    def disturb(self, chance, wanted):
        """Kills it once it is in the wanted stage; returns the stage hit and how, or nothing if it ended first."""
        process = self.start()
        victim = None
        while process.poll() is None and victim is None:
            for trial, stage in self.running(process).items():
                if stage == wanted:
                    victim = trial
            time.sleep(0.0005)
        if victim is None:
            return None
        # Stages differ in length; publishing takes some milliseconds.
        time.sleep(chance.uniform(0, 0.012 if wanted in ("publish", "evaluate") else 0.25))
        how = chance.choice(["all", "all", "all", "all", "runner", "trial"])
        kill(process.pid, signal.SIGSTOP)
        workers = children_of(process.pid)
        stages = self.running(process)
        if how in ("all", "trial"):
            for worker in workers:
                kill(worker)
        if how in ("all", "runner"):
            kill(process.pid)
        else:  # the runner goes on, and tries its trial again
            kill(process.pid, signal.SIGCONT)
            time.sleep(chance.uniform(0, 0.3))
            kill(process.pid, signal.SIGTERM)
        _, errors = process.communicate()
        if how == "trial" and process.returncode not in (0, 75):
            sys.exit(f"the runner ended with {process.returncode}:\n{errors.decode()}")
        return stages.get(victim, "published"), how


def main():
    options = argparse.ArgumentParser()
    options.add_argument("headcount", type=pathlib.Path)
    options.add_argument("--kills", type=int, default=40)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/soak"))
    options = options.parse_args()
    program = options.headcount.resolve()
    work = options.work.resolve() / f"seed-{options.seed}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    spec = work / "soak.ini"
    spec.write_text(SPEC)
    chance = random.Random(options.seed)

    reference = Sweep(program, spec, work / "undisturbed" / "soak", 1, 1)
    began = time.monotonic()
    reference.finish()
    trials = sorted(path.name for path in reference.out.glob("*.h5"))
    print(f"undisturbed: {len(trials)} trials in {time.monotonic() - began:.1f} s", flush=True)

    hits = collections.Counter()
    settings = [(threads, jobs) for threads in (1, 2) for jobs in (1, 2)]
    for number, (threads, jobs) in enumerate(settings):
        # A folder of its own beside nothing, so that nothing trained elsewhere is found.
        sweep = Sweep(program, spec, work / f"threads-{threads}-jobs-{jobs}" / "soak", threads, jobs)
        kills = options.kills * (number + 1) // len(settings) - options.kills * number // len(settings)
        rounds = 0
        while kills > 0:
            hit = sweep.disturb(chance, chance.choice(STAGES + ["publish"]))
            rounds += 1
            if hit is None:  # all done: once more from nothing
                shutil.rmtree(sweep.out)
                continue
            hits[hit] += 1
            kills -= 1
        sweep.finish()
        for trial in trials:
            subprocess.run([program, "same", reference.out / trial, sweep.out / trial], check=True,
                           stdout=subprocess.DEVNULL)
        leftover = [p.name for p in sweep.out.iterdir()
                    if p.suffix == ".part" or ".checkpoint" in p.name or p.name.endswith(".failed.json")
                    or (p.suffix == ".lock" and p.name != ".lock")]
        if sorted(p.name for p in sweep.out.glob("*.h5")) != trials or leftover:
            sys.exit(f"threads {threads}, jobs {jobs}: files that should not be there: {leftover}")
        print(f"threads {threads}, jobs {jobs}: equal after {rounds} starts", flush=True)

    stages = collections.Counter()
    for (stage, _), count in hits.items():
        stages[stage] += count
    hows = collections.Counter()
    for (_, how), count in hits.items():
        hows[how] += count
    print(f"seed {options.seed}: {sum(hits.values())} kills;",
          ", ".join(f"{stage} {count}" for stage, count in sorted(stages.items())) + ";",
          ", ".join(f"{how} {count}" for how, count in sorted(hows.items())))
    if not options.kills or sum(hits.values()) != options.kills:
        sys.exit("not all kills hit")


if __name__ == "__main__":
    main()
