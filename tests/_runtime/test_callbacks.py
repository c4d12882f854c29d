import runpy
import sys

from tamis import DFT
from tamis._runtime import callbacks
from tamis._runtime.callbacks import report_to


class Silent:
    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def on_fit_task_end(self, estimator, context): ...


def test_callbacks_are_set_and_taken_away():
    selector, callback = DFT(), Silent()
    assert report_to(selector, callback) is selector
    if hasattr(selector, "set_callbacks"):
        assert callback in selector._skl_callbacks
        assert report_to(selector) is selector
        assert callback not in getattr(selector, "_skl_callbacks", [])


def test_without_callbacks_in_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    found = runpy.run_path(callbacks.__file__)

    class Estimator(found["CallbackSupportMixin"]):
        @found["with_callbacks"]
        def fit(self):
            return "fitted"

    estimator = Estimator()
    assert estimator.fit() == "fitted"
    assert found["report_to"](estimator, Silent()) is estimator
    assert found["report_to"](estimator) is estimator
