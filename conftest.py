"""Settings and rules of all tests, those of the doctests in `src` among them."""

import gc
import inspect
import os
import re
import signal
from collections import defaultdict
from importlib.util import find_spec

import pytest

os.environ.setdefault("MPLBACKEND", "agg")  # drawn without a screen

# Words in the names of files and selectors, and the worker that compiles for all of them.
SLOW_TO_COMPILE = {
    **dict.fromkeys(("linear_svm", "wrappers", "SVMRFE", "L0SVM"), "svm"),
    **dict.fromkeys(("weighting", "OFW", "test_energy", "test_top_weights", "weights_path"), "ofw"),
}
# In the names of common checks: "[check_set_output-InfFS-regression]", "[OFW(max_iter=300)-...]".
SELECTOR_IN_ID = re.compile(r"\[(?:check_\w+-)?([A-Z]\w*)")


def pytest_configure(config):
    """Let tests raise Ctrl-C: in the background of a shell (`nohup ... &`) it is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One worker per core for the whole suite, none when files or folders are named."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return 0
    return os.cpu_count()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep in one worker what shares its compiled kernels, unless another --dist is asked for.

    The controller knows the tests by name only. A mark would have to reach it in the name, which
    xdist 3.8 does not manage with pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class GroupScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return _group(nodeid)

    asked = config.getvalue("dist") not in ("load", "loadgroup")
    return None if asked else GroupScheduling(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection():
    """Look for no garbage among the tests while they are collected, nor later: they all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Choose what is slow, and skip what the installed scikit-learn does not have."""
    families = defaultdict(list)
    has_callbacks = find_spec("sklearn.callback") is not None
    for item in items:
        if not has_callbacks and _needs_callbacks(item):
            item.add_marker(pytest.mark.skip(reason="callbacks came with scikit-learn 1.9"))
        if marker := item.get_closest_marker("sampled"):
            families[item.nodeid.partition("[")[0], marker.args[0]].append(item)
    for (_, n_kept), cases in families.items():
        kept = {round(i * (len(cases) - 1) / max(n_kept - 1, 1)) for i in range(n_kept)}
        for position, case in enumerate(cases):
            if position not in kept:
                case.add_marker(pytest.mark.slow)


def _group(nodeid):
    """Name of what shares its compiled kernels: a file, or a selector in the common checks.

    The kernels of support vector machines and of OFW take five to ten seconds each to compile.
    """
    name = nodeid.partition("::")[0]
    if name.endswith("test_common.py") and (found := SELECTOR_IN_ID.search(nodeid)):
        name = found[1]
    shared = (group for word, group in SLOW_TO_COMPILE.items() if word in name)
    return next(shared, name)


def _needs_callbacks(item):
    function = getattr(item, "function", None)
    return function is not None and "set_callbacks" in inspect.getsource(function)
