import pytest

from tamis.data import table_format
from tamis.exceptions import InputError


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", "csv"),
        ("a.CSV.GZ", "csv"),
        ("a.tsv", "tsv"),
        ("a.txt", "tsv"),
        ("a.tsv.gz", "tsv"),
        ("a.b.parquet", "parquet"),
        ("a.pq", "parquet"),
        ("a.feather", "feather"),
        ("a.arrow", "feather"),
        ("a.ipc", "feather"),
        ("a.npz", "npz"),
    ],
)
def test_extension_tells_format(name, kind):
    assert table_format(name) == kind


@pytest.mark.parametrize("name", ["a.json", "a.parquet.gz", "csv", "a"])
def test_unknown_extension_lists_the_known_ones(name):
    with pytest.raises(InputError, match=r"expected a file ending in \.csv, .*\.npz") as caught:
        table_format(name)
    assert str(caught.value).startswith(f"{name}: ")


def test_spreadsheet_gets_its_own_remedy():
    with pytest.raises(InputError, match="save the sheet as CSV"):
        table_format("a.xlsx")
