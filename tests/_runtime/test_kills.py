"""Everything that writes, killed twenty times at random moments: whole files, the same results.

Stores of comparisons are in `tests/evaluation/test_resume.py`, folders of feature sources that are
shared in `tests/meta/sources/test_source_folder.py`.
"""

import json
import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL and fork"),
]
N_KILLS = 20

# One process imports and compiles everything, and forks the ones to be killed.
PROGRAM = """
import contextlib, hashlib, json, os, random, signal, sys, time, warnings
from pathlib import Path
import numpy as np, pandas as pd
import tamis
from tamis._runtime import checkpoint
from tamis.cli import main
from tamis.meta import ArraySource, FeatureSource, Mufasa
from tamis.weighting import ofw

warnings.simplefilter("ignore")
checkpoint.EVERY, ofw.CHECKPOINT_SECONDS = -1.0, 0.0
folder, kind, n_kills = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
random.seed(kind)
rng = np.random.default_rng(0)
y = np.arange(120) % 2
X = rng.normal(size=(120, 30)) + np.outer(y, np.arange(30) % 5 == 0)
frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(30)]).assign(y=y)


class Source(FeatureSource):
    meta = np.arange(30.0)[:, None]

    def measure(self, indices):
        return X[:, indices]


def scan(path):
    parts = tamis.scan(folder / "part*.parquet", target="y", checkpoint=path)
    return tamis.MRMR(n_features_to_select=5, n_bins=3, strategy="uniform").fit(parts).scores_


def weights(path):
    return tamis.OFW(max_iter=1500, random_state=3, checkpoint=path).fit(X, y).weights_


def search(path):
    search = Mufasa(
        n_features_to_select=4, n_steps=25, random_state=1, checkpoint=path, n_jobs=1
    ).fit(ArraySource(X, np.arange(30.0)[:, None]), y)
    return np.array([record["quality"] for record in search.history_])


def source(path):
    return Source().keep_in(path).columns(np.arange(30))


def select(path):
    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(open(os.devnull, "w")):
        main(["select", str(folder / "t.csv"), "--target", "y", "--select", "5", "--force",
              "--out", str(path), "--quiet"])


def manifest(path):
    made = tamis.manifest.make_manifest(fitted)
    tamis.manifest.write_manifest(made, path, force=True)


def report(path):
    comparison.to_html(path, force=True)


def identity(result, path):
    content = path.read_bytes() if result is None else result.tobytes()
    return hashlib.sha256(content).hexdigest()


def forked(path):
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work(path)
        code = 0
    finally:
        os._exit(code)


work = globals()[kind]
for part in range(6):
    frame.iloc[20 * part : 20 * part + 20].to_parquet(folder / f"part{part}.parquet")
frame.to_csv(folder / "t.csv", index=False)
if kind == "manifest":
    fitted = tamis.DFT(n_features_to_select=5).fit(frame[frame.columns[:-1]], y)
if kind == "report":
    from sklearn.linear_model import LogisticRegression
    comparison = tamis.evaluation.compare(
        ["dft"], {"made": (X, y)}, counts=[2], learners=LogisticRegression(), progress=False,
        protocol=tamis.evaluation.protocols.RepeatedSplits(2),
    )
names = {"source": "kept", "select": "o.csv", "manifest": "m.json", "report": "r.html"}
name = names.get(kind, "state")
(folder / "whole").mkdir()
writes_output = work(folder / "whole" / name) is None
begun = time.monotonic()
(folder / "again").mkdir()
wanted = identity(work(folder / "again" / name), folder / "again" / name)
longest = time.monotonic() - begun
kills, number, begun_again, wrong = 0, 0, 0, []
while kills < n_kills:
    path = folder / f"run{number}" / name
    path.parent.mkdir(exist_ok=True)
    begun_again += path.exists()
    child = forked(path)
    time.sleep(random.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        kills += 1
        if writes_output and path.exists() and identity(None, path) != wanted:
            wrong.append("half-written")
    elif os.waitstatus_to_exitcode(status):
        wrong.append("failed")
        break
    if not os.WIFSIGNALED(status) or kills == n_kills:
        if identity(work(path), path) != wanted:
            wrong.append("another result")
        number += 1
print(json.dumps({"kills": kills, "wrong": wrong, "begun_again": begun_again}))
"""


RESUMED, WRITTEN = ["scan", "weights", "search", "source"], ["select", "manifest", "report"]


@pytest.mark.parametrize("kind", [*RESUMED, *WRITTEN])
def test_killed_twenty_times(tmp_path, kind):
    command = [sys.executable, "-c", PROGRAM, tmp_path, kind, str(N_KILLS)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert found["kills"] == N_KILLS
    # Some kills came in the middle: a checkpoint or a folder was there, and was used.
    assert kind in WRITTEN or found["begun_again"] > 0
