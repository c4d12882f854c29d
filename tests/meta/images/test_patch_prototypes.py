"""PatchPrototypes: filters, maxima, distances, meta-features and what users pass."""

import os
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import tamis
from reference import patches as plain
from tamis.exceptions import InputError, SelectionWarning
from tamis.meta import FeatureSource, PatchPrototypes
from tamis.meta.images import _patches as distances
from tamis.meta.images._patches import (
    GaborLayer,
    default_filter_size,
    default_n_scales,
    default_pool_size,
    gabor_filters,
    local_maxima,
)


def pictures(seed=0, n_images=12, shape=(18, 18)):
    """Bars of random slope and place with some noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[0], : shape[1]]
    found = np.empty((n_images, *shape))
    for image in found:
        angle, shift = rng.uniform(0, np.pi), rng.uniform(0, 6)
        wave = np.sin((x * np.cos(angle) + y * np.sin(angle) + shift) * rng.uniform(0.5, 1.5))
        image[:] = 3 * wave * (np.hypot(x - 9, y - 9) < rng.uniform(3, 9))
    return found + 0.3 * rng.normal(size=found.shape) + 2.0


def fitted(images, **options):
    options = {"n_prototypes": 9, "patch_sizes": (3, 5, 8), "random_state": 0, **options}
    return PatchPrototypes(**options).fit(images)


def direct_distances(model, images):
    """Distances by the plain algorithm from images, only the prototypes are taken."""
    found = np.empty((len(images), len(model.prototypes_)))
    for i, image in enumerate(images):
        bands = plain.represent(
            image / model.scale_,
            model.filter_sizes_,
            model.pool_sizes_,
            model.n_orientations,
            model.normalize,
        )
        found[i] = [plain.smallest_distance(bands, p.astype(float)) for p in model.prototypes_]
    return found


@pytest.mark.parametrize("size", [5, 7, 11, 37])
@pytest.mark.parametrize("n_orientations", [1, 4, 6])
def test_filters_have_zero_mean_and_unit_norm(size, n_orientations):
    filters = gabor_filters(size, n_orientations)
    assert filters.shape == (n_orientations, size, size)
    np.testing.assert_allclose(filters.sum(axis=(1, 2)), 0, atol=1e-12)
    np.testing.assert_allclose((filters**2).sum(axis=(1, 2)), 1, rtol=1e-12)
    for k, found in enumerate(filters):
        expected, _ = plain.gabor(size, np.pi * k / n_orientations)
        np.testing.assert_allclose(found, expected, atol=1e-13)


def test_filters_turn_with_their_orientation():
    upright, falling, level, rising = gabor_filters(9, 4)
    np.testing.assert_allclose(level, upright.T, atol=1e-12)
    np.testing.assert_allclose(falling, rising[:, ::-1], atol=1e-12)
    np.testing.assert_allclose(upright, upright[::-1], atol=1e-12)


def test_widths_are_those_of_the_published_table():
    # Serre et al. (2007), table 1; their numbers are rounded and tuned by hand.
    sigma = [2.8, 3.6, 4.5, 5.4, 6.3, 7.3, 8.2, 9.2, 10.2, 11.3, 12.3, 13.4, 14.6, 15.8, 17.0, 18.2]
    sizes = np.arange(7, 39, 2)
    np.testing.assert_allclose(0.0036 * sizes**2 + 0.35 * sizes + 0.18, sigma, rtol=0.02)
    for size, width in zip(sizes, sigma, strict=True):
        middle = gabor_filters(size, 1)[0, size // 2]
        spectrum = np.abs(np.fft.rfft(middle - middle.mean(), 4096))
        assert spectrum.argmax() / 4096 == pytest.approx(0.8 / width, rel=0.3)


@pytest.mark.parametrize("winner", range(4))
def test_a_grating_excites_its_own_orientation_most(winner):
    layer = GaborLayer((40, 40), 4, (7, 9), (4,))
    y, x = np.mgrid[:40, :40]
    angle = np.pi * winner / 4
    grating = np.cos(2 * np.pi * (x * np.cos(angle) + y * np.sin(angle)) / 4)
    (band,) = layer.bands(grating[None])
    inner = band[0, 5:-5, 5:-5].mean(axis=(0, 1))
    assert inner.argmax() == winner
    assert inner[winner] > 2 * np.delete(inner, winner).max()


@pytest.mark.parametrize("normalize", [False, True])
def test_large_images_are_filtered_one_size_at_a_time(normalize, monkeypatch):
    images = pictures()
    sizes = ((18, 18), 4, (5, 7, 9, 11), (2, 4), normalize)
    kept = GaborLayer(*sizes)
    assert kept._keeps_spectra
    expected = kept.bands(images)
    monkeypatch.setattr(distances, "BLOCK_BYTES", 1000)
    small = GaborLayer(*sizes)
    assert not small._keeps_spectra
    assert small.block == 1
    for found, band in zip(small.bands(images), expected, strict=True):
        np.testing.assert_array_equal(found, band)


@pytest.mark.parametrize("normalize", [False, True])
def test_flat_images_give_nothing(normalize):
    layer = GaborLayer((20, 20), 4, (5, 7), (4,), normalize)
    flat = np.stack([np.zeros((20, 20)), np.full((20, 20), 9.0)])
    assert np.abs(layer.bands(flat)[0]).max() < 1e-8


def test_normalized_responses_ignore_contrast_and_stay_below_one():
    layer = GaborLayer((18, 18), 4, (5, 7, 9, 11), (2, 4), normalize=True)
    images = pictures()
    for band, strong in zip(layer.bands(images), layer.bands(50 * images), strict=True):
        np.testing.assert_allclose(band, strong, rtol=1e-5)
        assert band.min() >= 0
        assert band.max() <= 1


def test_published_sizes_at_the_published_resolution():
    assert default_filter_size(140) == 7
    assert default_n_scales(140, 7) == 16
    assert default_pool_size(140, 16) == 8
    layer = GaborLayer((140, 180), 4, tuple(range(7, 39, 2)), tuple(range(8, 24, 2)))
    assert layer.shapes[0] == (35, 45)
    assert layer.shapes[-1] == (13, 17)


@pytest.mark.parametrize("pool", [1, 2, 3, 4, 7, 30])
@pytest.mark.parametrize("shape", [(9, 9), (10, 7), (1, 5)])
def test_local_maxima_against_the_plain_ones(pool, shape):
    values = np.random.default_rng(pool).normal(size=(2, 3, *shape))
    found = local_maxima(values, pool)
    for i in range(2):
        for k in range(3):
            np.testing.assert_array_equal(found[i, k], plain.local_maxima(values[i, k], pool))


def test_local_maxima_by_hand():
    values = np.array([[1.0, 2.0, 3.0], [9.0, 5.0, 6.0], [7.0, 8.0, 4.0]])
    np.testing.assert_array_equal(local_maxima(values, 2), [[9, 6, 6], [9, 8, 6], [8, 8, 4]])
    np.testing.assert_array_equal(local_maxima(values, 4), [[9, 6], [8, 4]])


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((12, 12), {}),
        ((9, 14), {"n_orientations": 3, "n_scales": 4, "filter_size": 3, "pool_size": 3}),
        ((14, 8), {"normalize": True, "n_scales": 2, "pool_size": 1}),
        ((5, 6), {"patch_sizes": (1, 5), "n_orientations": 1, "filter_size": 11, "n_scales": 2}),
    ],
)
def test_values_against_the_plain_algorithm(shape, options):
    images = pictures(1, 4, shape)
    model = fitted(images[:3], **options)
    expected = direct_distances(model, images)
    found = model.transform(images)
    np.testing.assert_allclose(found, np.exp(-model.beta_ * expected**2), rtol=2e-6, atol=1e-9)
    assert found[3].max() < 1


def random_bands(rng, n_images, shapes, offset=0.0):
    return [(rng.random((n_images, *s, 4)) + offset).astype(np.float32) for s in shapes]


@pytest.mark.parametrize("room", [1, 300, 2**12, 2**22])
@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_distances_against_the_plain_ones_in_steps_of_any_size(room, offset, monkeypatch):
    # The offset makes norms 100 times as large as distances: single precision alone would fail.
    monkeypatch.setattr(distances, "PATCH_BYTES", room)
    monkeypatch.setattr(distances, "PROTOTYPES_AT_ONCE", 2)
    rng = np.random.default_rng(3)
    bands = random_bands(rng, 3, [(9, 7), (4, 6), (3, 3)], offset)
    prototypes = [rng.random((p, p, 4)).astype(np.float32) + np.float32(offset) for p in (3, 5) * 3]
    prototypes[0] = bands[0][1, 6:9, 4:7]  # the last place of a band
    prototypes[2] = bands[2][2]
    out = np.full((3, 6), np.nan)
    distances.squared_distances(
        bands, distances.group_by_size(prototypes, np.zeros(4, dtype=np.float32)), out
    )
    expected = np.array(
        [
            [plain.smallest_distance([b[i].astype(float) for b in bands], p) for p in prototypes]
            for i in range(3)
        ]
    )
    np.testing.assert_allclose(out, expected**2, rtol=2e-6, atol=1e-12)
    assert out[1, 0] == 0
    assert out[2, 2] == 0


@pytest.mark.parametrize("size", [1, 3, 6])
@pytest.mark.parametrize("room", [1, 4, 7, 20, 1000])
def test_pieces_cover_every_place_once(size, room):
    shapes = [(6, 8), (7, 5), (2, 9), (6, 6)]
    seen = []
    for pieces in distances._pieces(shapes, size, room):
        widths = [shapes[band][1] - size + 1 for band, _, _ in pieces]
        count = sum((b - a) * w for (_, a, b), w in zip(pieces, widths, strict=True))
        assert count <= max(room, max(widths))
        seen += [(band, row) for band, a, b in pieces for row in range(a, b)]
    expected = [
        (band, row)
        for band, shape in enumerate(shapes)
        if min(shape) >= size
        for row in range(shape[0] - size + 1)
    ]
    assert seen == expected
    n_places = distances.count_places(shapes, size)
    assert n_places == sum(shapes[band][1] - size + 1 for band, _ in expected)


def test_a_prototype_is_found_in_its_own_image():
    images = pictures(n_images=30)
    model = fitted(images, n_prototypes=60)
    own = model.transform(images)[model.origins_[:, 0], np.arange(60)]
    np.testing.assert_allclose(own, 1.0, rtol=0, atol=1e-6)
    bands = model._layer().bands(images / model.scale_)
    for prototype, (image, band, row, column) in zip(
        model.prototypes_, model.origins_, strict=True
    ):
        size = len(prototype)
        patch = bands[band][image, row : row + size, column : column + size]
        np.testing.assert_allclose(prototype, patch, rtol=1e-6)


def test_meta_features_by_hand():
    model = fitted(pictures())
    assert model.meta_names_ == [
        "size", "mean", "deviation", "peak", "quantile_0.3", "quantile_0.7"
    ]  # fmt: skip
    assert model.meta_.shape == (9, 6)
    assert model.meta_[:, 0].tolist() == [3, 5, 8] * 3
    for prototype, row in zip(model.prototypes_, model.meta_, strict=True):
        values = np.sort(prototype.astype(float).ravel())
        n = values.size
        assert row[1] == pytest.approx(values.sum() / n)
        assert row[2] == pytest.approx(np.sqrt((values**2).sum() / n - (values.sum() / n) ** 2))
        assert row[3] == values[-1]
        for share, found in ((0.3, row[4]), (0.7, row[5])):
            position = share * (n - 1)
            low = int(position)
            between = values[low] + (position - low) * (values[low + 1] - values[low])
            assert found == pytest.approx(between)


def test_cost_counts_multiplications():
    model = fitted(pictures(shape=(16, 20)), n_scales=4, pool_size=2, filter_size=5)
    # Bands of 16 x 20 and 8 x 10 places.
    assert model.cost_[0] == 9 * 4 * (14 * 18 + 6 * 8)
    assert model.cost_[1] == 25 * 4 * (12 * 16 + 4 * 6)
    assert model.cost_[2] == 64 * 4 * (9 * 13 + 1 * 3)


def test_origins_cover_images_bands_and_places():
    images = pictures(n_images=5)
    model = fitted(images, n_prototypes=600, patch_sizes=(8,), beta=1.0)
    shapes = model._layer().shapes
    image, band, row, column = model.origins_.T
    assert np.bincount(image, minlength=5).min() > 80
    fitting = [b for b, shape in enumerate(shapes) if min(shape) >= 8]
    assert fitting == [0, 1]
    assert set(band) == {0, 1}
    for b in fitting:
        assert set(row[band == b]) == set(range(shapes[b][0] - 7))
        assert set(column[band == b]) == set(range(shapes[b][1] - 7))


def test_order_and_company_of_images_do_not_matter():
    images = pictures(n_images=90)
    model = fitted(images)
    values = model.transform(images)
    order = np.random.default_rng(0).permutation(90)
    np.testing.assert_allclose(model.transform(images[order]), values[order], rtol=1e-6)
    alone = np.vstack([model.transform(image[None]) for image in images[:7]])
    np.testing.assert_allclose(alone, values[:7], rtol=1e-6)


def test_same_bits_for_every_number_of_threads():
    images = pictures(n_images=150)
    one, two = (fitted(images, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.meta_, two.meta_)
    np.testing.assert_array_equal(one.beta_, two.beta_)
    np.testing.assert_array_equal(one.transform(images), two.transform(images))
    for a, b in zip(one.source(images)._bands, two.source(images)._bands, strict=True):
        np.testing.assert_array_equal(a, b)
    asked = np.arange(9)
    np.testing.assert_array_equal(
        one.source(images).measure(asked), two.source(images).measure(asked)
    )


def test_same_seed_same_prototypes_and_another_seed_others():
    images = pictures()
    first, again, other = fitted(images), fitted(images), fitted(images, random_state=1)
    np.testing.assert_array_equal(first.transform(images), again.transform(images))
    assert not np.array_equal(first.origins_, other.origins_)


def test_source_measures_what_is_asked():
    images = pictures(n_images=70)
    model = fitted(images, n_prototypes=20)
    source = model.source(images)
    values = model.transform(images)
    assert isinstance(source, FeatureSource)
    asked = np.array([13, 2, 7, 2])
    np.testing.assert_allclose(source.measure(asked), values[:, asked], rtol=1e-6)
    np.testing.assert_allclose(source.columns([4, 19]), values[:, [4, 19]], rtol=1e-6)
    assert source.measured.tolist() == [4, 19]
    assert source.measure([]).shape == (70, 0)
    np.testing.assert_array_equal(source.meta, model.meta_)
    assert source.meta_names == model.meta_names_
    np.testing.assert_array_equal(source.costs(), model.cost_)
    assert source.candidate_names() == model.get_feature_names_out().tolist()
    assert source.spent == model.cost_[[4, 19]].sum()


def test_a_source_keeps_its_prototypes_when_the_model_is_fitted_again():
    images = pictures()
    model = fitted(images)
    source = model.source(images)
    before = source.measure([0, 1])
    model.set_params(random_state=5).fit(images[:3])
    np.testing.assert_array_equal(source.measure([0, 1]), before)


def test_beta_auto_follows_the_median_of_distances_to_other_images():
    images = pictures(n_images=20)
    model = fitted(images, n_prototypes=12)
    squared = -np.log(model.transform(images)) / model.beta_
    others = np.arange(20)[:, None] != model.origins_[:, 0]
    assert np.ptp(model.beta_) == 0
    assert model.beta_[0] == pytest.approx(0.3 / np.median(squared[others]), rel=1e-5)
    by_size = fitted(images, n_prototypes=12, beta="size")
    for size in (3, 5, 8):
        group = model.meta_[:, 0] == size
        expected = 0.3 / np.median(squared[:, group][others[:, group]])
        np.testing.assert_allclose(by_size.beta_[group], expected, rtol=1e-5)


def test_a_number_as_beta_is_used_as_it_is():
    images = pictures()
    once, twice = (fitted(images, beta=beta).transform(images) for beta in (0.01, 0.02))
    np.testing.assert_allclose(twice, once**2, rtol=1e-12)


@pytest.mark.parametrize("factor", [1e-30, 255.0, 1e30])
def test_the_unit_of_grey_does_not_matter(factor):
    images = pictures()
    model, other = fitted(images), fitted(images * factor)
    np.testing.assert_allclose(other.meta_, model.meta_, rtol=1e-5)
    expected = model.transform(images)
    np.testing.assert_allclose(other.transform(images * factor), expected, rtol=1e-5)


def test_images_as_lines_arrays_bytes_and_lists():
    images = np.random.default_rng(0).integers(0, 256, (6, 12, 10)).astype(np.uint8)
    kept = images.copy()
    expected = fitted(images).transform(images)
    lines = images.reshape(6, -1)
    shaped = fitted(lines, image_shape=(12, 10))
    assert shaped.n_features_in_ == 120
    for given in (lines, images, lines.tolist(), lines.astype(np.float32), images.astype(int)):
        np.testing.assert_allclose(shaped.transform(given), expected, rtol=1e-6)
    np.testing.assert_array_equal(images, kept)


def test_a_data_frame_of_pixels():
    pd = pytest.importorskip("pandas")
    images = pictures(n_images=5)
    frame = pd.DataFrame(images.reshape(5, -1), index=list("abcde")).rename(columns=str)
    model = fitted(frame).set_output(transform="pandas")
    found = model.transform(frame)
    assert found.index.tolist() == list("abcde")
    assert found.columns.tolist() == [f"patchprototypes{j}" for j in range(9)]
    np.testing.assert_allclose(found, fitted(images).transform(images), rtol=1e-6)


def test_one_image_and_flat_images():
    image = pictures(n_images=1)
    assert fitted(image).beta_[0] == 1
    np.testing.assert_allclose(fitted(image).transform(image), 1, atol=1e-6)
    flat = np.full((3, 16, 16), 7)
    model = fitted(flat)
    assert model.scale_ == 1
    np.testing.assert_allclose(model.transform(flat), 1)
    np.testing.assert_allclose(model.meta_[:, 1:], 0, atol=1e-6)


def test_clone_pickle_pipeline_and_refit():
    images = pictures(n_images=24)
    model = fitted(images)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(images), model.transform(images))
    y = np.arange(24) % 2
    pipe = make_pipeline(PatchPrototypes(n_prototypes=5, patch_sizes=(4,)), LogisticRegression())
    assert pipe.fit(images.reshape(24, -1), y).predict(images.reshape(24, -1)).shape == (24,)
    model.fit(pictures(shape=(14, 15)))
    assert model.image_shape_ == (14, 15)
    with pytest.raises(InputError):
        model.fit(np.zeros((2, 4, 4, 3)))
    with pytest.raises(NotFittedError):
        model.transform(images)


def test_sizes_that_do_not_fit_are_left_out_with_a_warning():
    digits = pictures(shape=(8, 8))
    with pytest.warns(SelectionWarning, match=r"\[12, 16\] are left out.*8 places"):
        model = PatchPrototypes(n_prototypes=6, random_state=0).fit(digits)
    assert model.meta_[:, 0].tolist() == [4, 8] * 3
    with pytest.raises(InputError, match="patch size of at most 8"):
        PatchPrototypes(patch_sizes=(9,)).fit(digits)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_prototypes", 0, "n_prototypes must be an int of at least 1"),
        ("patch_sizes", (), "patch_sizes must be one or more ints"),
        ("patch_sizes", (4, 0), "patch_sizes must be one or more ints"),
        ("patch_sizes", 4, "patch_sizes must be one or more ints"),
        ("n_scales", 3, "n_scales must be an even int"),
        ("filter_size", 4, "filter_size must be an odd int"),
        ("pool_size", 0, "pool_size must be an int"),
        ("normalize", "yes", "normalize must be True or False"),
        ("beta", 0.0, "beta must be a float above 0, 'auto' or 'size'"),
        ("beta", np.nan, "beta must be"),
        ("beta", np.inf, "beta must be"),
        ("beta", "best", "beta must be"),
        ("image_shape", (4, 4, 4), "image_shape must be two ints"),
        ("n_jobs", 0, "n_jobs must be a non-zero int"),
    ],
)
def test_bad_parameters(name, value, message):
    with pytest.raises(InputError, match=message):
        fitted(pictures(), **{name: value})


def test_bad_images():
    images = pictures()
    with pytest.raises(InputError, match=r"expected square images, got 10 pixels.*image_shape="):
        fitted(np.ones((3, 10)))
    with pytest.raises(InputError, match=r"expected images of 5 x 5 pixels, got 324 pixels"):
        fitted(images.reshape(12, -1), image_shape=(5, 5))
    with pytest.raises(InputError, match=r"expected images of 5 x 5 pixels, got 18 x 18"):
        fitted(images, image_shape=(5, 5))
    with pytest.raises(InputError, match="colours into grey"):
        fitted(np.ones((3, 8, 8, 3)))
    images[2, 3, 4] = np.nan
    with pytest.raises(ValueError, match="PatchPrototypes"):
        fitted(images)


def test_other_images_than_fitted():
    model = fitted(pictures())
    for method in (model.transform, model.source):
        with pytest.raises(InputError, match="expected images of 18 x 18 pixels, got 9 x 36"):
            method(np.ones((2, 9, 36)))
        with pytest.raises(ValueError, match="324 features"):
            method(np.ones((2, 100)))
    with pytest.raises(NotFittedError):
        PatchPrototypes().transform(pictures())
    with pytest.raises(NotFittedError):
        PatchPrototypes().source(pictures())


@pytest.mark.slow
@pytest.mark.skipif("TAMIS_DATA" not in os.environ, reason="TAMIS_DATA is not set")
def test_objects_are_told_apart_on_coil20():
    data = tamis.datasets.load("coil20")
    X, y = np.asarray(data.X), np.asarray(data.y)
    train, test = np.arange(0, 1440, 9), np.arange(4, 1440, 9)
    model = PatchPrototypes(n_prototypes=80, random_state=0).fit(X[train])
    assert model.filter_sizes_ == tuple(range(5, 21, 2))
    assert model._layer().shapes == [(32, 32), (16, 16), (11, 11), (8, 8)]
    machine = make_pipeline(LogisticRegression(C=100, max_iter=2000))
    machine.fit(model.transform(X[train]), y[train])
    assert machine.score(model.transform(X[test]), y[test]) > 0.85
