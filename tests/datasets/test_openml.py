"""Downloads, against a server of our own on this machine that answers like OpenML."""

import hashlib
import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from tamis.datasets import _catalogue, load
from tamis.datasets._catalogue import DatasetInfo, OpenMLTwin
from tamis.datasets._files import cache_folder
from tamis.exceptions import InputError

ARFF_PATH = "/data/v1/download/70/tiny.arff"
ARFF = """@RELATION Tiny
@ATTRIBUTE first REAL
@ATTRIBUTE second {20, 10}
@ATTRIBUTE third INTEGER
@ATTRIBUTE answer {no, yes}
@DATA
3, 10, -4, no
0, 20, 7, yes
5, 10, 1, yes
2, 20, -9, no
8, 10, 0, yes
1, 20, 6, yes
"""


class FakeOpenML:
    """Serves the pages that scikit-learn asks OpenML for; `pages` may be changed at any time."""

    def __init__(self):
        self.pages, self.requested = {}, []
        self.publish(ARFF)
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                fake.requested.append(self.path)
                status, body = fake.pages.get(self.path, (404, b""))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def publish(self, arff, *, name="Tiny"):
        """Put the table online, with the description that belongs to it."""
        lines = arff.splitlines()
        attributes = [line.split()[1:3] for line in lines if line.startswith("@ATTRIBUTE")]
        features = [
            {
                "index": str(index),
                "name": feature,
                "data_type": "nominal" if kind.startswith("{") else "numeric",
                "is_target": str(feature == "answer").lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for index, (feature, kind) in enumerate(attributes)
        ]
        n_rows = len(lines) - lines.index("@DATA") - 1
        description = {
            "id": "7",
            "name": name,
            "version": "1",
            "format": "ARFF",
            "status": "active",
            "description": "made for a test",
            "url": f"https://www.openml.org{ARFF_PATH}",
            "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
        }
        self.pages[ARFF_PATH] = (200, arff.encode())
        self._answer("7", {"data_set_description": description})
        self._answer("features/7", {"data_features": {"feature": features}})
        quality = [{"name": "NumberOfInstances", "value": str(float(n_rows))}]
        self._answer("qualities/7", {"data_qualities": {"quality": quality}})

    def _answer(self, path, content):
        self.pages[f"/api/v1/json/data/{path}"] = (200, json.dumps(content).encode())

    def stop(self):
        if self.thread.is_alive():
            self.server.shutdown()
            self.thread.join()
            self.server.server_close()


class ToFake(urllib.request.HTTPSHandler):
    """Sends what was meant for an https server of OpenML to ours."""

    def __init__(self, address):
        super().__init__()
        self.address = address

    def https_open(self, request):
        assert request.host.endswith("openml.org")
        moved = urllib.request.Request(self.address + request.selector, headers=request.headers)
        return self.parent.open(moved)


@pytest.fixture
def openml(monkeypatch, tmp_path, tiny):
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    # scikit-learn waits a second between its retries.
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    fake = FakeOpenML()
    no_proxy = urllib.request.ProxyHandler({})
    urllib.request.install_opener(urllib.request.build_opener(no_proxy, ToFake(fake.address)))
    yield fake
    urllib.request.install_opener(None)
    fake.stop()


def cached_files():
    return sorted(path for path in cache_folder().rglob("*") if path.is_file())


def test_download(openml, tiny_arrays):
    data = load("tiny")
    assert np.array_equal(data.X, tiny_arrays["X"])
    assert data.X.dtype == np.float32
    assert np.array_equal(data.y, tiny_arrays["y"])
    assert data.y.dtype == np.int8
    assert data.feature_names == ["first", "second", "third"]
    assert (data.split, data.fold, data.relevant, data.class_names) == (None, None, None, None)
    assert ARFF_PATH in openml.requested


def test_the_second_call_needs_no_server(openml):
    first = load("tiny")
    assert cached_files()
    openml.stop()
    n_requests = len(openml.requested)
    second = load("tiny")
    assert np.array_equal(first.X, second.X)
    assert np.array_equal(first.y, second.y)
    assert len(openml.requested) == n_requests


def test_a_file_goes_before_openml(openml, tiny_file):
    assert load("tiny").feature_names == ["a", "b", "a"]
    assert openml.requested == []


def test_download_false_asks_nothing(openml):
    with pytest.raises(InputError, match="download=False forbids OpenML"):
        load("tiny", download=False)
    assert openml.requested == []


def test_missing_cells_and_frame(openml, monkeypatch, tiny):
    pytest.importorskip("pandas")
    info = DatasetInfo(**{**vars(tiny), "n_missing": 2, "magnitude": tiny.magnitude - 10 - 9})
    monkeypatch.setitem(_catalogue.CATALOGUE, "tiny", info)
    openml.publish(ARFF.replace("3, 10,", "3, ?,").replace("-9", "?"))
    X, y = load("tiny", return_X_y=True, as_frame=True)
    assert np.argwhere(X.isna()).tolist() == [[0, 1], [3, 2]]
    assert X["second"].tolist()[1:] == [20, 10, 20, 10, 20]
    assert y.tolist() == [-1, 1, 1, -1, 1, 1]


def test_classes_told_by_their_counts(openml, monkeypatch, tiny):
    info = DatasetInfo(**{**vars(tiny), "openml": OpenMLTwin(7, "Tiny")})
    monkeypatch.setitem(_catalogue.CATALOGUE, "tiny", info)
    assert load("tiny").y.tolist() == [-1, 1, 1, -1, 1, 1]
    openml.publish(ARFF.replace("-4, no", "-4, yes"))
    cached = cache_folder() / "openml"
    cached.rename(cached.with_name("old"))
    with pytest.raises(InputError, match=r"got also \['no', 'yes'\]"):
        load("tiny")


def test_a_corrupted_file_is_reported_and_removed(openml):
    good = openml.pages[ARFF_PATH]
    openml.pages[ARFF_PATH] = (200, good[1].replace(b"8, 10", b"9, 10"))
    with pytest.raises(InputError, match=r"md5 checksum .* does not match") as caught:
        load("tiny")
    assert "The download was removed: try again" in str(caught.value)
    assert cached_files() == []
    openml.pages[ARFF_PATH] = good
    assert load("tiny").X[4].tolist() == [8, 10, 0]


def test_a_truncated_cache_is_renewed(openml):
    expected = load("tiny")
    (cached,) = [path for path in cached_files() if path.name.startswith("tiny.arff")]
    cached.write_bytes(cached.read_bytes()[:40])
    assert np.array_equal(load("tiny").X, expected.X)


@pytest.mark.parametrize(
    ("arff", "complaint"),
    [
        (ARFF.removesuffix("1, 20, 6, yes\n"), "the shape of X must be (6, 3), got (5, 3)"),
        (ARFF.replace("-4, no", "-4, yes"), "the rows per class must be {-1: 2, 1: 4}"),
        (ARFF.replace("8, 10", "9, 10"), "the sum of the absolute values of X must be 136.0"),
        (ARFF.replace("yes", "oui"), "got also ['oui']"),
        (ARFF.replace("{20, 10}", "{red, 10}").replace(" 20,", " red,"), "could not convert"),
    ],
)
def test_a_replaced_table_is_refused(openml, arff, complaint):
    openml.publish(arff)
    with pytest.raises(InputError) as caught:
        load("tiny")
    assert complaint in str(caught.value)
    assert "OpenML data set 7" in str(caught.value)
    assert cached_files() == []
    openml.publish(ARFF)
    assert load("tiny").X.shape == (6, 3)


def test_another_name_is_refused(openml):
    openml.publish(ARFF, name="Huge")
    with pytest.raises(InputError, match="must be named 'Tiny', got 'Huge'"):
        load("tiny")


def test_unreachable(openml):
    openml.stop()
    with pytest.raises(InputError, match="could not be reached") as caught:
        load("tiny")
    assert "set TAMIS_DATA" in str(caught.value)


@pytest.mark.parametrize("status", [404, 503])
def test_a_server_in_trouble(openml, status):
    openml.pages[ARFF_PATH] = (status, b"")
    with pytest.raises(InputError, match=f"could not be reached: HTTP Error {status}"):
        load("tiny")


def test_a_set_openml_no_longer_has(openml):
    openml.pages["/api/v1/json/data/7"] = (412, b"{}")
    with pytest.raises(InputError, match="Dataset with data_id 7 not found"):
        load("tiny")


def test_a_cache_that_cannot_be_written(openml, monkeypatch, tmp_path):
    (tmp_path / "occupied").write_text("a file where a folder should be")
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "occupied"))
    with pytest.raises(InputError, match="choose another folder with TAMIS_CACHE"):
        load("tiny")


def test_cache_folder(monkeypatch):
    monkeypatch.setenv("TAMIS_CACHE", "~/elsewhere")
    assert cache_folder() == Path.home() / "elsewhere"
    monkeypatch.delenv("TAMIS_CACHE")
    assert cache_folder().name == "tamis"
