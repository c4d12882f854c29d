"""Mutated files of every format: read as a table, or refused with a reason."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from fuzz.outcomes import attempt
from tamis.data import read_table

pytestmark = pytest.mark.slow


SUFFIXES = ["csv", "tsv", "csv.gz", "parquet", "feather", "npz", "npy", "h5"]


def write(folder, suffix):
    """A small table with a target, as a file of this format."""
    rng = np.random.default_rng(0)
    path, X, y = folder / f"t.{suffix}", rng.normal(size=(30, 4)).round(3), np.arange(30) % 2
    frame = pd.DataFrame(X, columns=list("abcd")).assign(word=list("xyz") * 10, y=y)
    if suffix in ("csv", "csv.gz"):
        frame.to_csv(path, index=False)
    elif suffix == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif suffix in ("parquet", "feather"):
        getattr(frame, f"to_{suffix}")(path)
    elif suffix == "npz":
        np.savez_compressed(path, X=X, y=y, feature_names=np.array(list("abcd")))
    elif suffix == "npy":
        np.save(path, X)
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            file["X"], file["y"], file["feature_names"] = X, y, list("abcd")
    return path


@st.composite
def mutations(draw):
    """Places as shares of the file, and what happens there."""
    kinds = st.sampled_from(["byte", "byte", "bit", "cut", "repeat", "insert", "zeros"])
    place = st.floats(0, 1, exclude_max=True)
    return draw(st.lists(st.tuples(kinds, place, st.integers(0, 255)), min_size=1, max_size=4))


def mutate(content, changes):
    content = bytearray(content)
    for kind, share, value in changes:
        place = int(share * len(content))
        if not content:
            break
        if kind == "byte":
            content[place] = value
        elif kind == "bit":
            content[place] ^= 1 << value % 8
        elif kind == "cut":
            del content[place : place + max(1, value)]
        elif kind == "repeat":
            content[place:place] = content[place : place + value]
        elif kind == "insert":
            content[place:place] = bytes([value]) * (value % 16 + 1)
        else:
            content[place : place + 8] = bytes(8)
    return bytes(content)


@pytest.fixture(scope="module", params=SUFFIXES)
def original(request, tmp_path_factory):
    path = write(tmp_path_factory.mktemp("fuzz"), request.param)
    return path, path.read_bytes()


@given(changes=mutations())
def test_tables(original, changes):
    path, content = original
    damaged = path.with_name(f"damaged-{path.name}")
    damaged.write_bytes(mutate(content, changes))

    def whole():
        table = read_table(damaged)
        return tamis.data.prepare(table, target="y" if "y" in table.column_names else None)

    def by_blocks():
        target = None if path.suffix == ".npy" else "y"
        return tamis.Variance(n_features_to_select="all").fit(tamis.scan(damaged, target=target))

    if path.suffix not in (".npy", ".h5"):
        attempt(whole)
    attempt(by_blocks)


@given(changes=mutations())
def test_manifests(changes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("manifest")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 4)), columns=list("abcd"))
    selector = tamis.DFT(n_features_to_select=2).fit(frame, np.arange(30) % 2)
    path = folder / "m.json"
    tamis.manifest.write_manifest(tamis.manifest.make_manifest(selector), path)
    path.write_bytes(mutate(path.read_bytes(), changes))
    attempt(lambda: tamis.manifest.apply(tamis.manifest.read_manifest(path), frame))


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A scan that was stopped after two of four files, and what an undisturbed one finds."""
    folder = tmp_path_factory.mktemp("checkpoint")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 6)), np.arange(200) % 2
    for part in range(4):
        rows = slice(50 * part, 50 * part + 50)
        pd.DataFrame(X[rows], columns=list("abcdef")).assign(y=y[rows]).to_parquet(
            folder / f"t{part}.parquet"
        )
    wanted = tamis.DFT(n_features_to_select=2).fit(scan_of(folder, None)).scores_

    class Stop(Exception):
        pass

    selector, seen = tamis.DFT(n_features_to_select=2), []
    steps = selector.steps

    def stopping(name, items, total):
        for item in steps(name, items, total):
            yield item
            seen.append(name)
            if len(seen) == 2:
                raise Stop

    selector.steps = stopping
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tamis._runtime.checkpoint.EVERY", -1.0)
        with pytest.raises(Stop):
            selector.fit(scan_of(folder, folder / "c.tamis"))
    return folder, (folder / "c.tamis").read_bytes(), wanted


def scan_of(folder, checkpoint):
    return tamis.scan(folder / "*.parquet", target="y", checkpoint=checkpoint)


@given(changes=mutations())
def test_checkpoints_are_refused_or_change_nothing(stopped, changes):
    folder, content, wanted = stopped
    (folder / "c.tamis").write_bytes(mutate(content, changes))

    def check(selector):
        np.testing.assert_array_equal(selector.scores_, wanted)

    attempt(
        lambda: tamis.DFT(n_features_to_select=2).fit(scan_of(folder, folder / "c.tamis")),
        check,
    )
