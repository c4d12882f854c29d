"""AndOrFeatures: values against the literal definition, draws, costs, sets of features."""

import itertools
import json
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from sklearn.base import clone

import tamis
from reference import and_or as plain
from tamis.exceptions import InputError
from tamis.meta import AndOrFeatures, Generator, Integer, MetaSpace, Mufasa, Real
from tamis.meta.images._and_or_set import AndOrSet

POINT = {"num_inputs": 4, "percent_pos": 50, "shift": 3, "scatter": 2.0}


def some_images(n_images, height, width, seed=0, share=0.4):
    return np.random.default_rng(seed).random((n_images, height, width)) < share


def by_hand(height, width, n_features, max_shift=8, seed=0):
    """Any features, of which many leave the image when they are shifted."""
    rng = np.random.default_rng(seed)
    inputs, shifts = [], rng.integers(1, max_shift + 1, n_features)
    for _ in range(n_features):
        n = rng.integers(1, min(8, height * width) + 1)
        pixels = rng.choice(height * width, n, replace=False)
        signs = rng.integers(0, 2, n)
        inputs.append([(p // width, p % width, s) for p, s in zip(pixels, signs, strict=True)])
    return inputs, shifts


def literal(images, inputs, shifts):
    return np.array(
        [
            [plain.value(image, f, s) for f, s in zip(inputs, shifts, strict=True)]
            for image in images
        ]
    )


def chi_square_p(observed, expected):
    statistic = ((observed - expected) ** 2 / expected).sum()
    return chi2.sf(statistic, len(observed) - 1)


# Values


def test_example_of_the_paper():
    # Inputs (1, 0) and (0, 1), shift 2: one of four pairs must be ink.
    inputs, generator = [[(1, 0), (0, 1)]], AndOrFeatures(image_shape=(3, 3), max_shift=2)
    features = generator.features(inputs, 2)
    pairs = [((1, 0), (0, 1)), ((1, 1), (0, 2)), ((2, 0), (1, 1)), ((2, 1), (1, 2))]
    for first, second in itertools.combinations(itertools.product(range(3), repeat=2), 2):
        image = np.zeros((1, 3, 3), dtype=bool)
        image[0, *first] = image[0, *second] = True
        expected = (first, second) in pairs or (second, first) in pairs
        assert generator.measure(image, features).tolist() == [[int(expected)]]


def test_negated_inputs_and_border():
    image = np.array([[[1, 1], [1, 1]]])
    generator = AndOrFeatures(image_shape=(2, 2), max_inputs=2, max_shift=2)
    inputs = [[(1, 1, 0)], [(1, 1, 0)], [(1, 1, 0), (0, 0, 1)], [(0, 0, 1), (0, 1, 0)]]
    # Shifted by one, (1, 1) leaves the image, where its negation is 1; (0, 0) does not.
    features = generator.features(inputs, [1, 2, 2, 2])
    assert generator.measure(image, features).tolist() == [[0, 1, 1, 1]]
    assert generator.measure(1 - image, features).tolist() == [[1, 1, 0, 0]]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("n_images", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (7, 2)])
def test_values_are_those_of_the_literal_definition(n_images, shape):
    images = some_images(n_images, *shape)
    inputs, shifts = by_hand(*shape, 80)
    generator = AndOrFeatures(image_shape=shape)
    values = generator.measure(images, generator.features(inputs, shifts))
    assert values.dtype == np.uint8
    np.testing.assert_array_equal(values, literal(images, inputs, shifts))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_values_of_drawn_features_on_large_images(share):
    images = some_images(100, 28, 28, share=share)
    generator = AndOrFeatures()
    features = generator.draw_any(1, n_features=150)
    record = features.to_dict()
    expected = literal(images.tolist(), record["inputs"], record["shift"])
    assert 0.1 < expected.mean() < 0.9
    np.testing.assert_array_equal(generator.measure(images, features), expected)


@pytest.mark.parametrize("n_images", [1023, 1024, 1025, 2100])
def test_more_images_than_a_block(n_images):
    images = some_images(n_images, 4, 4)
    inputs, shifts = by_hand(4, 4, 20, max_shift=3)
    generator = AndOrFeatures(image_shape=(4, 4), max_shift=3)
    features = generator.features(inputs, shifts)
    np.testing.assert_array_equal(
        generator.measure(images, features), literal(images.tolist(), inputs, shifts)
    )


def test_all_counts_of_inputs_and_all_shifts():
    images = some_images(70, 6, 5, share=0.5)
    pixels = [(row, column) for row in range(6) for column in range(5)]
    rng = np.random.default_rng(2)
    inputs, shifts = [], []
    for n, shift, negated in itertools.product(range(1, 9), range(1, 9), (0, 1, 2)):
        chosen = [pixels[i] for i in rng.choice(30, n, replace=False)]
        signs = {0: [1] * n, 1: [0] * n, 2: rng.integers(0, 2, n).tolist()}[negated]
        inputs.append([(*pixel, sign) for pixel, sign in zip(chosen, signs, strict=True)])
        shifts.append(shift)
    generator = AndOrFeatures(image_shape=(6, 5))
    values = generator.measure(images, generator.features(inputs, shifts))
    np.testing.assert_array_equal(values, literal(images.tolist(), inputs, shifts))


def test_forms_of_images():
    gray = np.random.default_rng(0).integers(0, 256, (50, 6, 5))
    generator = AndOrFeatures(image_shape=(6, 5), threshold=127.5)
    features = generator.draw_any(0, n_features=40)
    expected = generator.measure(gray > 127, features)
    assert 0 < expected.mean() < 1
    forms = [gray, gray.reshape(50, 30), gray.astype(np.uint8), gray.astype(np.float32)]
    forms += [gray.tolist(), np.asfortranarray(gray.astype(float)), gray[:, ::-1][:, ::-1]]
    for form in forms:
        np.testing.assert_array_equal(generator.measure(form, features), expected)
    shares = AndOrFeatures(image_shape=(6, 5)).measure(gray / 255, features)
    np.testing.assert_array_equal(shares, expected)
    frame = pd.DataFrame(gray.reshape(50, 30))
    np.testing.assert_array_equal(generator.measure(frame, features), expected)


@pytest.mark.parametrize("threshold", [-1.5, 0, 0.5, 3, 3.5, 255, 1000])
def test_threshold_is_a_value_of_pixels(threshold):
    gray = np.arange(12).reshape(1, 3, 4) - 2
    generator = AndOrFeatures(image_shape=(3, 4), threshold=threshold, max_shift=1)
    features = generator.features([[(i // 4, i % 4)] for i in range(12)])
    expected = (gray > threshold).reshape(1, 12)
    for dtype in (np.int8, np.int64, np.float16, np.float64):
        np.testing.assert_array_equal(
            generator.measure(gray.astype(dtype), features), expected, str(dtype)
        )


def test_missing_pixels_are_background():
    images = np.array([[[np.nan, 1.0]]])
    generator = AndOrFeatures(image_shape=(1, 2), max_shift=1)
    features = generator.features([[(0, 0)], [(0, 0, 0)], [(0, 1)]])
    assert generator.measure(images, features).tolist() == [[0, 1, 1]]


def test_an_image_does_not_depend_on_its_company():
    images = np.random.default_rng(0).random((130, 28, 28)).astype(np.float32)
    generator = AndOrFeatures()
    features = generator.draw_any(0, n_features=50)
    together = generator.measure(images, features)
    order = np.random.default_rng(1).permutation(130)
    np.testing.assert_array_equal(generator.measure(images[order], features), together[order])
    alone = np.vstack([generator.measure(images[[i]], features) for i in range(5)])
    np.testing.assert_array_equal(alone, together[:5])


def test_images_stay_as_they_are():
    images = np.random.default_rng(0).random((20, 784))
    before = images.copy()
    images.flags.writeable = False
    generator = AndOrFeatures()
    generator.measure(images, generator.draw_any(0, n_features=5))
    np.testing.assert_array_equal(images, before)


def test_threads_change_nothing():
    images = some_images(3000, 28, 28)
    y = np.arange(3000) % 3
    results = []
    for n_jobs in (1, 2, 3):
        generator = AndOrFeatures(n_jobs=n_jobs)
        features = generator.draw_any(3, n_features=1500)
        gain = generator.information_gain(images, y, features)
        results.append((features, generator.measure(images, features), gain))
    for features, values, gain in results[1:]:
        assert features == results[0][0]
        np.testing.assert_array_equal(values, results[0][1])
        np.testing.assert_array_equal(gain, results[0][2])


def test_packed_images_and_packed_values():
    images = some_images(130, 28, 28)
    generator = AndOrFeatures()
    features = generator.draw_any(0, n_features=60)
    packed, values = generator.pack(images), generator.measure(images, features)
    assert len(packed) == 130
    assert repr(packed) == "PackedImages(130 images of 28 x 28 pixels)"
    np.testing.assert_array_equal(generator.measure(packed, features), values)
    words = generator.measure_packed(packed, features)
    assert words.shape == (60, 3)
    bits = np.array([[(int(w) >> b) & 1 for w in row for b in range(64)] for row in words])
    np.testing.assert_array_equal(bits[:, :130], values.T)
    assert not bits[:, 130:].any()
    # What was packed for larger shifts serves for smaller ones.
    small = AndOrFeatures(max_shift=2)
    few = small.draw_any(0, n_features=9)
    np.testing.assert_array_equal(small.measure(packed, few), small.measure(images, few))
    with pytest.raises(InputError, match=r"Pack them with this generator"):
        AndOrFeatures(max_shift=9).measure(packed, features)
    with pytest.raises(InputError, match=r"image_shape=\(27, 28\)"):
        AndOrFeatures(image_shape=(27, 28)).measure(packed, features)


def test_no_images():
    generator = AndOrFeatures()
    features = generator.draw_any(0, n_features=3)
    assert generator.measure(np.zeros((0, 784)), features).shape == (0, 3)


def test_no_features():
    generator = AndOrFeatures()
    none = generator.join(generator.draw_any(0, n_features=3), [])
    images = some_images(10, 28, 28)
    assert generator.measure(images, none).shape == (10, 0)
    assert generator.cost(none).shape == (0,)
    assert generator.meta(none).shape == (0, 4)
    assert generator.information_gain(images, np.arange(10) % 2, none).shape == (0,)


# Information gain


def test_information_gain():
    images = some_images(150, 6, 5)
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[(images[:, 2, 2] + rng.integers(0, 2, 150)).astype(int)]
    generator = AndOrFeatures(image_shape=(6, 5))
    features = generator.draw_any(0, n_features=60)
    gain = generator.information_gain(images, y, features)
    values = generator.measure(images, features)
    expected = [plain.gain(column.tolist(), y.tolist()) for column in values.T]
    np.testing.assert_allclose(gain, expected, rtol=0, atol=1e-12)
    selector = tamis.InformationGain(n_features_to_select="all").fit(values.astype(float), y)
    np.testing.assert_allclose(gain, selector.gain_, rtol=0, atol=1e-12)
    assert (gain[values.min(axis=0) == values.max(axis=0)] == 0).all()


def test_information_gain_of_a_perfect_pixel():
    images = some_images(80, 3, 3, share=0.5)
    generator = AndOrFeatures(image_shape=(3, 3))
    y = images[:, 1, 1]
    gain = generator.information_gain(images, y, generator.features([[(1, 1)], [(1, 1, 0)]]))
    share = y.mean()
    entropy = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
    np.testing.assert_allclose(gain, [entropy, entropy], rtol=1e-12)


def test_information_gain_needs_classes_for_all_images():
    generator = AndOrFeatures(image_shape=(3, 3))
    features = generator.draw_any(0, n_features=2)
    with pytest.raises(InputError, match="AndOrFeatures"):
        generator.information_gain(some_images(9, 3, 3), np.arange(8) % 2, features)
    with pytest.raises(InputError, match="two classes"):
        generator.information_gain(some_images(9, 3, 3), np.ones(9), features)


# Draws


@pytest.mark.parametrize("n_inputs", range(1, 9))
@pytest.mark.parametrize("scatter", [1.0, 1.27, 2.0, 3.5])
def test_draws_satisfy_the_point(n_inputs, scatter):
    generator = AndOrFeatures()
    for percent, shift in ((0, 1), (37, 8), (50, 2), (100, 5)):
        point = dict(zip(POINT, (n_inputs, percent, shift, scatter), strict=True))
        features = generator.draw(point, np.random.default_rng(0), n_features=50)
        assert len(features) == 50
        for inputs, a in zip(*features.to_dict().values(), strict=True):
            assert a == shift
            assert len({(row, column) for row, column, _ in inputs}) == n_inputs
            positives = sum(sign for _, _, sign in inputs)
            assert abs(positives - percent * n_inputs / 100) <= 0.5
            assert all(0 <= row < 28 and 0 <= column < 28 for row, column, _ in inputs)
            if n_inputs > 1:
                assert abs(plain.scatter(inputs) - scatter) <= 0.15 + 1e-12


def test_half_an_input_is_rounded_up():
    generator = AndOrFeatures()
    features = generator.draw({**POINT, "num_inputs": 1}, 0, n_features=20)
    assert features.positive[:, 0].all()


def test_draws_are_uniform_over_sets_of_pixels():
    # Enumerate all sets of 3 pixels of a 6 x 5 image with the wanted scatter.
    pixels = [(row, column, 1) for row in range(6) for column in range(5)]
    sets = [
        inputs
        for inputs in itertools.combinations(pixels, 3)
        if abs(plain.scatter(inputs) - 1.5) <= 0.15
    ]
    n = 30 * len(sets)
    generator = AndOrFeatures(image_shape=(6, 5))
    point = {"num_inputs": 3, "percent_pos": 100, "shift": 1, "scatter": 1.5}
    drawn = generator.draw(point, 0, n_features=n).to_dict()["inputs"]
    counts = Counter(tuple(tuple(item) for item in inputs) for inputs in drawn)
    observed = np.array([counts[inputs] for inputs in sets])
    assert observed.sum() == n
    assert chi_square_p(observed, n / len(sets)) > 1e-3


def test_draws_of_single_pixels_are_uniform_over_the_image():
    generator = AndOrFeatures(image_shape=(9, 7))
    features = generator.draw({**POINT, "num_inputs": 1}, 0, n_features=63 * 50)
    observed = np.bincount(features.rows[:, 0] * 7 + features.columns[:, 0], minlength=63)
    assert chi_square_p(observed, 50.0) > 1e-3


def test_signs_are_uniform_over_inputs():
    generator = AndOrFeatures()
    features = generator.draw({**POINT, "percent_pos": 25}, 0, n_features=4000)
    # One of four is positive, and the inputs are sorted by their place.
    assert chi_square_p(features.positive[:, :4].sum(axis=0), 1000.0) > 1e-3


def test_draw_any_is_uniform_over_the_space():
    generator = AndOrFeatures()
    features = generator.draw_any(0, n_features=8000)
    for part in (features.n_inputs, features.shift):
        assert chi_square_p(np.bincount(part, minlength=9)[1:], 1000.0) > 1e-3
    scatter = generator.meta(features)[features.n_inputs > 3, 3]
    observed = np.histogram(scatter, bins=5, range=(1.25, 3.25))[0]
    assert chi_square_p(observed, observed.mean()) > 1e-4
    every = features.positive.sum(axis=1) == features.n_inputs
    share = every[features.n_inputs == 1].mean()  # percentages 50 to 100 make a pixel positive
    assert abs(share - 51 / 101) < 0.06


def test_same_seed_same_draws():
    generator = AndOrFeatures()
    for draw in (lambda seed: generator.draw(POINT, seed, n_features=20),
                 lambda seed: generator.draw_any(seed, budget=100)):  # fmt: skip
        first = draw(np.random.default_rng(5))
        assert first == draw(np.random.default_rng(5)) == draw(5)
        assert first != draw(6)
    rng = np.random.default_rng(0)
    assert generator.draw(POINT, rng, n_features=9) != generator.draw(POINT, rng, n_features=9)


@pytest.mark.parametrize("budget", [5, 5.0, 9.99, 10, 1000, 3001.5])
def test_budget_of_a_point_is_used_up(budget):
    generator = AndOrFeatures()
    features = generator.draw(POINT, 0, budget=budget)
    assert len(features) == int(budget // 5)  # 0.5 (1 + 9) each
    assert generator.cost(features).sum() <= budget


@pytest.mark.parametrize("budget", [1, 1.5, 7, 100, 1000, 5000.75])
def test_budget_of_any_features_is_used_up(budget):
    generator = AndOrFeatures()
    for seed in range(5):
        total = generator.cost(generator.draw_any(seed, budget=budget)).sum()
        assert budget - 1 < total <= budget


def test_scatter_that_no_set_has_is_approached():
    # Eight pixels are never as close, and the corners of a small image not as far apart.
    close = AndOrFeatures(scatter=(0.2, 3.5)).draw(
        {"num_inputs": 8, "percent_pos": 100, "shift": 1, "scatter": 0.2}, 0, n_features=100
    )
    assert close.scatter().max() < 1.3
    far = AndOrFeatures(image_shape=(3, 3)).draw(
        {"num_inputs": 2, "percent_pos": 100, "shift": 1, "scatter": 3.5}, 0, n_features=20
    )
    np.testing.assert_allclose(far.scatter(), np.sqrt(2))


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 2), (40, 3)])
def test_small_and_long_images(shape):
    generator = AndOrFeatures(image_shape=shape)
    features = generator.draw_any(0, n_features=200)
    assert features.n_inputs.max() == min(8, shape[0] * shape[1])
    generator._check_features(features)
    assert all(len({(r, c) for r, c, _ in f}) == len(f) for f in features.to_dict()["inputs"])


def test_location_as_meta_feature():
    # Section 8 of the paper: the place in the image, no shift, fixed scatter.
    generator = AndOrFeatures(
        meta_features=("row", "column"), fixed={"shift": 1, "scatter": 2.0, "percent_pos": 50}
    )
    assert generator.space == MetaSpace({"row": Integer(0, 27), "column": Integer(0, 27)})
    features = generator.draw({"row": 14, "column": 10}, 0, n_features=3000)
    places = generator.meta(features)
    assert places.shape == (3000, 2)
    for place, wanted in zip(places.T, (14, 10), strict=True):
        assert (place >= wanted - 2).all()
        assert (place < wanted + 2).all()
    assert (features.shift == 1).all()
    assert chi_square_p(np.bincount(features.n_inputs, minlength=9)[1:], 375.0) > 1e-3
    one = features.n_inputs == 1
    cells = (features.rows[one, 0] - 12) * 4 + features.columns[one, 0] - 8
    observed = np.bincount(cells, minlength=16)
    assert observed.size == 16
    assert chi_square_p(observed, observed.mean()) > 1e-3
    corner = generator.draw({"row": 0, "column": 27}, 0, n_features=300)
    # Where the border does not allow the window, the feature touches the border.
    top = np.where(corner.used, corner.rows, 99).min(axis=1)
    right = np.where(corner.used, corner.columns, 0).max(axis=1)
    places = generator.meta(corner)
    assert ((places[:, 0] < 2) | (top == 0)).all()
    assert ((places[:, 1] >= 25) | (right == 27)).all()
    anywhere = generator.meta(generator.draw_any(0, n_features=2000))
    assert np.ptp(anywhere, axis=0).min() > 22


def test_window_of_one_place():
    generator = AndOrFeatures(
        meta_features=("row",), fixed={"num_inputs": 1, "column": 3, "shift": 2}, window=1
    )
    features = generator.draw({"row": 9}, 0, n_features=50)
    assert set(features.rows[:, 0]) == {9}
    assert set(features.columns[:, 0]) == {3}
    assert set(features.shift) == {2}


# Meta-features, cost, space


def test_meta_and_cost():
    generator = AndOrFeatures()
    features = generator.features(
        [
            [(3, 3)],
            [(0, 0), (0, 4, 0)],
            [(0, 0), (3, 0), (0, 3)],
            [(0, i, i < 1) for i in range(8)],
        ],
        [1, 2, 8, 3],
    )
    third = (np.sqrt(2) + 2 * np.sqrt(5)) / 3
    expected = [[1, 100, 1, 0], [2, 50, 2, 2], [3, 100, 8, third], [8, 13, 3, 2]]
    np.testing.assert_allclose(generator.meta(features), expected, rtol=1e-12)
    np.testing.assert_array_equal(generator.cost(features), [1, 2.5, 32.5, 5])


def test_space_follows_the_parameters():
    assert AndOrFeatures().space == MetaSpace(
        {
            "num_inputs": Integer(1, 8),
            "percent_pos": Integer(0, 100),
            "shift": Integer(1, 8),
            "scatter": Real(1.0, 3.5),
        }
    )
    generator = AndOrFeatures(
        max_inputs=3, max_shift=2, scatter=(1, 2), meta_features=["shift", "num_inputs"]
    )
    assert generator.space == MetaSpace({"shift": Integer(1, 2), "num_inputs": Integer(1, 3)})
    features = generator.draw({"shift": 2, "num_inputs": 3}, 0, n_features=300)
    np.testing.assert_array_equal(np.unique(generator.meta(features), axis=0), [[2, 3]])
    assert 0.85 <= features.scatter().min() < 1.2 < 1.8 < features.scatter().max() <= 2.15
    assert AndOrFeatures(image_shape=(1, 2)).space.dimensions["num_inputs"] == Integer(1, 2)


def test_it_is_a_generator_and_a_citizen_of_scikit_learn():
    generator = AndOrFeatures(image_shape=(5, 6), fixed={"row": 2})
    assert isinstance(generator, Generator)
    copy = clone(generator)
    assert copy.get_params() == generator.get_params()
    assert repr(copy) == "AndOrFeatures(fixed={'row': 2}, image_shape=(5, 6))"
    again = pickle.loads(pickle.dumps(generator))
    assert again.draw_any(0, n_features=4) == generator.draw_any(0, n_features=4)


# Sets of features


def test_subsets():
    generator = AndOrFeatures()
    features = generator.draw_any(0, n_features=10)
    mask = np.arange(10) % 3 == 0
    assert generator.join(features, mask) == features[[0, 3, 6, 9]] == features[::3]
    assert features[[2, 1]].to_dict()["inputs"] == [features.to_dict()["inputs"][i] for i in (2, 1)]
    assert features[-1] == features[9:]
    assert len(list(features)) == 10
    images = some_images(30, 28, 28)
    np.testing.assert_array_equal(
        generator.measure(images, generator.join(features, mask)),
        generator.measure(images, features)[:, mask],
    )
    with pytest.raises(IndexError, match="no feature 10"):
        features[10]
    for chosen, words in (([True, False], "mask of 10"), ([10], "below 10"), ([0.5], "indices")):
        with pytest.raises(InputError, match=words):
            generator.join(features, chosen)


def test_sets_compare_by_value_and_cannot_be_changed():
    generator = AndOrFeatures()
    features = generator.draw_any(0, n_features=5)
    assert len({features, generator.draw_any(0, n_features=5), features[:4]}) == 2
    assert features != features[::-1]
    assert features != "features"
    for part in (features.rows, features[1:].columns, features.shift):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1
    with pytest.raises(AttributeError):
        features.shift = None


def test_order_of_inputs_means_nothing():
    generator = AndOrFeatures()
    first = generator.features([[(5, 1, 0), (2, 7), (2, 3)]], 2)
    assert first == generator.features([[(2, 3), (5, 1, False), (2, 7, True)]], [2])
    assert first.to_dict() == {"inputs": [[[2, 3, 1], [2, 7, 1], [5, 1, 0]]], "shift": [2]}


def test_sets_can_be_stored():
    generator = AndOrFeatures()
    features = generator.draw_any(0, n_features=25)
    record = json.loads(json.dumps(features.to_dict()))
    assert AndOrSet.from_dict(record) == generator.features(**record) == features
    assert pickle.loads(pickle.dumps(features)) == features
    assert not pickle.loads(pickle.dumps(features)).rows.flags.writeable
    none = features[:0]
    assert AndOrSet.from_dict(none.to_dict()) == none
    with pytest.raises(InputError, match="'inputs' and 'shift'"):
        AndOrSet.from_dict({"inputs": []})


def test_repr_of_sets():
    features = AndOrFeatures().features([[(1, 2), (3, 4, 0)], [(0, 0)], [(1, 1)]], [2, 1, 1])
    assert repr(features[1]) == "AndOrSet(1 feature: (0, 0))"
    shown = "[(1, 2) and not (3, 4)] shifted 2 x 2"
    assert repr(features) == f"AndOrSet(3 features: {shown}, (0, 0), ...)"
    assert repr(features[:0]) == "AndOrSet(0 features)"


# Wrong input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"image_shape": (28,)}, "image_shape must be"),
        ({"image_shape": (0, 3)}, "image_shape must be"),
        ({"image_shape": (2.5, 3)}, "image_shape must be"),
        ({"threshold": np.nan}, "threshold must be a finite number, got nan"),
        ({"threshold": "otsu"}, "threshold must be"),
        ({"max_inputs": 9}, r"max_inputs must be an int in \[1, 8\], got 9"),
        ({"max_shift": 0}, "max_shift must be"),
        ({"scatter": (2, 1)}, "scatter must be"),
        ({"scatter": 2.0}, "scatter must be"),
        ({"meta_features": ("size",)}, "meta_features must be"),
        ({"meta_features": ()}, "meta_features must be"),
        ({"meta_features": "row"}, "meta_features must be"),
        ({"fixed": {"size": 1}}, "fixed must be"),
        ({"fixed": {"shift": 1}}, "'shift' in both"),
        ({"fixed": {"row": 28}}, r"fixed\['row'\] is wrong.*0 to 27"),
        ({"window": 0}, "window must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_parameters(options, words):
    with pytest.raises(InputError, match=f"AndOrFeatures: .*{words}"):
        AndOrFeatures(**options).draw_any(0, n_features=2)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({}, "exactly one"),
        ({"n_features": 3, "budget": 3}, "exactly one"),
        ({"n_features": 0}, "n_features must be an int of at least 1, got 0"),
        ({"n_features": 2.0}, "n_features must be"),
        ({"budget": 4.9}, "at least 5, the cost of the cheapest feature here, got 4.9"),
        ({"budget": np.inf}, "finite"),
        ({"budget": np.nan}, "finite"),
        ({"budget": "all"}, "budget must be"),
    ],
)
def test_wrong_limits(limits, words):
    with pytest.raises(InputError, match=words):
        AndOrFeatures().draw(POINT, 0, **limits)


def test_wrong_point():
    with pytest.raises(InputError, match="'shift' is wrong"):
        AndOrFeatures().draw({**POINT, "shift": 9}, 0, n_features=1)
    with pytest.raises(InputError, match="missing"):
        AndOrFeatures().draw({"shift": 2}, 0, n_features=1)


@pytest.mark.parametrize(
    ("images", "words"),
    [
        (np.zeros((3, 783)), r"\(n_images, 784\) or \(n_images, 28, 28\), got \(3, 783\)"),
        (np.zeros(784), "Set image_shape"),
        (np.zeros((28, 28)), "Set image_shape"),
        (np.zeros((3, 28, 28, 1)), "Set image_shape"),
        (np.full((3, 784), "x"), "images of numbers"),
        (np.zeros((3, 784), dtype=complex), "images of numbers"),
        (None, "images of numbers"),
    ],
)
def test_wrong_images(images, words):
    generator = AndOrFeatures()
    with pytest.raises(InputError, match=words):
        generator.measure(images, generator.draw_any(0, n_features=1))


@pytest.mark.parametrize(
    ("inputs", "shift", "words"),
    [
        ([[(0, 28)]], 1, "row 0 and column 28"),
        ([[(0, -1)]], 1, "row and column >= 0"),
        ([[(0, 1, 2)]], 1, "1 or 0"),
        ([[(0,)]], 1, r"expected \(row, column\)"),
        ([[(0.5, 1)]], 1, "whole numbers"),
        ([[3, 4]], 1, r"expected \(row, column\)"),
        ([[]], 1, "1 to 8 inputs for a feature, got 0"),
        ([[(0, i) for i in range(9)]], 1, "1 to 8 inputs for a feature, got 9"),
        ([[(0, 0), (0, 0, 0)]], 1, "different pixels"),
        ([[(0, 0)]], 9, "Raise max_shift"),
        ([[(0, 0)]], 0, "at least 1"),
        ([[(0, 0)]], [1, 2], "1 of them"),
        ([[(0, 0)]], 1.5, "shift must be an int"),
    ],
)
def test_wrong_features(inputs, shift, words):
    with pytest.raises(InputError, match=words):
        AndOrFeatures().features(inputs, shift)


def test_features_of_another_kind():
    generator = AndOrFeatures()
    with pytest.raises(InputError, match="made by draw, draw_any or features"):
        generator.measure(np.zeros((3, 784)), [0, 1])
    with pytest.raises(InputError, match="Raise max_shift"):
        AndOrFeatures(max_shift=2).measure(
            np.zeros((3, 784)), generator.features([[(0, 0)]], shift=3)
        )


def test_telling_features_have_enough_ones_and_zeros():
    values = np.zeros((40, 5), dtype=np.uint8)
    for column, ones in enumerate((0, 1, 2, 38, 40)):
        values[:ones, column] = 1
    assert AndOrFeatures().telling(values).tolist() == [False, False, True, True, False]
    everything = AndOrFeatures(min_share=0.0)
    assert everything.telling(values).tolist() == [False, True, True, True, False]
    with pytest.raises(InputError, match="min_share"):
        AndOrFeatures(min_share=0.6).telling(values)


def test_searches_leave_out_patterns_that_no_image_has():
    rng = np.random.default_rng(0)
    images = np.zeros((80, 12, 12), dtype=bool)
    images[:, 4:8, 4:8] = rng.random((80, 4, 4)) < 0.5  # ink in the middle only
    y = images[:, 5, 5].astype(int)
    options = {"n_features_to_select": 20, "n_steps": 3, "random_state": 0}
    generator = AndOrFeatures(image_shape=(12, 12), max_shift=2, max_inputs=2)
    found = Mufasa(generator=generator, **options).fit(images, y)
    assert found.n_selected_ == 20
    assert generator.telling(found.transform(images)).all()
    kept = Mufasa(generator=generator, redraw_constant=False, **options).fit(images, y)
    assert not generator.telling(kept.transform(images)).all()
