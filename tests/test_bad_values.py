"""Values and parameters at the limits: an error that names them, or the right result."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import tamis
from tamis.exceptions import InputError

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 5))
y = np.arange(40) % 2


def objects(column):
    table = X.astype(object)
    table[:, 0] = column
    return table


class TestCells:
    @pytest.mark.parametrize("huge", [10**400, -(10**400)], ids=["positive", "negative"])
    def test_numbers_too_large_for_a_float(self, huge):
        column = [huge, *range(39)]
        for table, name in ((objects(column), "column 0"), (frame(column), "column 'a'")):
            with pytest.raises(InputError, match=f"{name} with a number too large for float64"):
                tamis.DFT().fit(table, y)
        with pytest.raises(InputError, match=r"RFT: .* too large for float64"):
            tamis.RFT().fit(X, np.array(column, dtype=object))

    @pytest.mark.parametrize("column", [[True, 1] * 20, [True, 0] * 20, [Decimal(1), 2.5] * 20])
    def test_mixed_numbers_are_numbers(self, column):
        expected = tamis.DFT().fit(np.column_stack([np.array(column, float), X[:, 1:]]), y).scores_
        for table in (objects(column), frame(column)):
            np.testing.assert_array_equal(tamis.DFT().fit(table, y).scores_, expected)

    def test_durations_of_numpy_are_seconds(self):
        seconds = np.arange(40) % 7
        expected = tamis.DFT().fit(np.column_stack([seconds, X[:, 1:]]), y).scores_
        column = [np.timedelta64(int(i), "s") for i in seconds]
        np.testing.assert_array_equal(tamis.DFT().fit(frame(column), y).scores_, expected)
        column = [datetime.timedelta(seconds=int(i)) for i in seconds]
        np.testing.assert_array_equal(tamis.DFT().fit(frame(column), y).scores_, expected)

    def test_dates_of_numpy_are_days(self):
        days = np.arange(40) % 7
        expected = tamis.DFT().fit(np.column_stack([days, X[:, 1:]]), y).scores_
        column = [np.datetime64(int(i), "D") for i in days]
        np.testing.assert_array_equal(tamis.DFT().fit(frame(column), y).scores_, expected)

    def test_durations_of_numpy_as_target(self):
        target = np.array([np.timedelta64(i, "m") for i in range(40)], dtype=object)
        expected = tamis.RFT().fit(X, 60.0 * np.arange(40)).scores_
        np.testing.assert_array_equal(tamis.RFT().fit(X, target).scores_, expected)


def frame(column):
    table = pd.DataFrame(X, columns=list("abcde"))
    table["a"] = pd.Series(column, dtype=object)
    return table


class TestParameters:
    @pytest.mark.parametrize(
        "value",
        [Fraction(1, 2), np.float16(0.5), np.longdouble(0.5), 10**400],
        ids=["fraction", "half", "long", "int"],
    )
    def test_kernels_get_floats_only(self, value):
        with pytest.raises(InputError, match="SVMRFE: tol must be a float"):
            tamis.SVMRFE(tol=value).fit(X, y)

    def test_single_precision_is_a_float(self):
        assert tamis.UDFS(gamma=np.float32(0.5)).fit(X).scores_.shape == (5,)

    @pytest.mark.parametrize("name", ["DFT", "RFT", "InformationGain", "MutualInformation"])
    @pytest.mark.parametrize("n_bins", [2**31, 2**62, 10**30])
    def test_more_bins_than_memory(self, name, n_bins):
        with pytest.raises(InputError, match=f"{name}: n_bins must be an int in"):
            getattr(tamis, name)(n_bins=n_bins).fit(X, y)

    def test_more_tokens_than_memory(self):
        with pytest.raises(InputError, match="ILFS: n_tokens must be an int in"):
            tamis.ILFS(n_tokens=2**31).fit(X, y)

    @pytest.mark.parametrize("name", ["MCFS", "LaplacianScore"])
    def test_a_width_that_leaves_no_affinity(self, name):
        with pytest.raises(InputError, match=f"{name}: expected a width .* got 1e-308"):
            getattr(tamis, name)(width=1e-308).fit(X)

    def test_a_ridge_that_rounding_swallows(self):
        with pytest.raises(InputError, match=r"UDFS: regularization must be .* got 1e-308"):
            tamis.UDFS(regularization=1e-308).fit(X)
        with pytest.raises(InputError, match=r"LLCFS: beta must be .* got 1e\+308"):
            tamis.LLCFS(beta=1e308).fit(X)
        check = tamis.LLCFS(beta=1e10, n_features_to_select=2).fit(X[:, :1].repeat(3, axis=1))
        assert np.isfinite(check.scores_).all()


class TestWeights:
    @pytest.mark.parametrize("odd", [1e308, 5e-324])
    @pytest.mark.parametrize("name", ["DFT", "Fisher", "InfFS", "TreeImportance"])
    def test_products_of_weights_stay_finite(self, name, odd):
        weight = np.r_[odd, np.ones(39)]
        with pytest.raises(InputError, match=f"{name}: expected a sample_weight of 0 or between"):
            getattr(tamis, name)().fit(X, y, sample_weight=weight)

    def test_in_files(self, tmp_path):
        table = pd.DataFrame(X, columns=list("abcde")).assign(y=y, w=1e308)
        table.to_csv(tmp_path / "t.csv", index=False)
        scan = tamis.scan(tmp_path / "t.csv", target="y", weight="w")
        with pytest.raises(InputError, match="expected a sample_weight of 0 or between"):
            tamis.Fisher().fit(scan)


class TestMasks:
    def test_masked_cells_are_missing(self):
        mask = rng.random(X.shape) < 0.3
        hidden = np.ma.array(np.where(mask, 1e6, X), mask=mask)
        wanted = tamis.DFT().fit(np.where(mask, np.nan, X), y).scores_
        np.testing.assert_array_equal(tamis.DFT().fit(hidden, y).scores_, wanted)
        whole = np.ma.array(np.rint(10 * X).astype(int), mask=mask)
        wanted = tamis.DFT().fit(np.where(mask, np.nan, np.rint(10 * X)), y).scores_
        np.testing.assert_array_equal(tamis.DFT().fit(whole, y).scores_, wanted)

    def test_masked_targets_and_weights(self):
        mask = np.arange(40) == 3
        with pytest.raises(InputError, match="target without missing values, got NaN or None in 1"):
            tamis.DFT().fit(X, np.ma.array(y, mask=mask))
        with pytest.raises(InputError, match="sample_weight to be finite"):
            tamis.DFT().fit(X, y, sample_weight=np.ma.array(np.ones(40), mask=mask))
        wanted = tamis.DFT().fit(X, y).scores_
        np.testing.assert_array_equal(tamis.DFT().fit(X, np.ma.array(y)).scores_, wanted)


class TestLargeIntegers:
    @pytest.mark.parametrize("make", [np.asarray, lambda Z: pd.DataFrame(Z, columns=["id", "b"])])
    def test_different_ones_that_are_one_float(self, make):
        Z = np.column_stack([2**53 + np.arange(40), np.arange(40)])
        with pytest.raises(InputError, match="DFT: expected whole numbers that float64"):
            tamis.DFT().fit(make(Z), y)

    def test_large_ones_that_stay_apart(self):
        Z = np.column_stack([2**53 + 2 * np.arange(40), np.arange(40)])
        scores = tamis.DFT(n_features_to_select=1).fit(Z, np.arange(40) // 20).scores_
        np.testing.assert_array_equal(scores, 1.0)


class TestFoundByFuzzing:
    @pytest.mark.parametrize("cell", [1j, {"a": 1}, [1], b"x"])
    @pytest.mark.parametrize("make", ["array", "frame"])
    def test_cells_that_are_no_numbers(self, cell, make):
        column = np.empty(40, dtype=object)
        column[:] = 1.5
        column[7] = cell
        table = objects(column) if make == "array" else frame(column)
        with pytest.raises(InputError, match=r"DFT: expected columns of numbers"):
            tamis.DFT().fit(table, y)

    @pytest.mark.parametrize("cell", [10**400, b"x"], ids=["large", "bytes"])
    def test_one_dimension_of_objects(self, cell):
        with pytest.raises(InputError, match="DFT: "):
            tamis.DFT().fit(np.array([1.5, cell] * 20, dtype=object), y)

    @pytest.mark.parametrize("option", [{"checkpoint": 0.5}, {"estimator_params": 0.5}])
    def test_paths_and_mappings(self, option):
        with pytest.raises(InputError, match=f"OFW: {next(iter(option))} must be"):
            tamis.OFW(**option).fit(X, y)

    def test_large_features_and_targets(self):
        wanted = tamis.ReliefF(n_features_to_select=1).fit(X, X[:, 0])
        found = tamis.ReliefF(n_features_to_select=1).fit(2.0**330 * X, 2.0**460 * X[:, 0])
        np.testing.assert_array_equal(found.support_, wanted.support_)
