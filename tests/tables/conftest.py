import pytest

from tamis.exceptions import InputError
from tamis.tables import read_table


@pytest.fixture
def csv(tmp_path):
    """Write text or bytes to a file and read it as a table."""

    def read(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_table(path)

    return read


@pytest.fixture
def csv_error(csv):
    """Read content that is expected to fail, and return the message."""

    def message(content, name="t.csv"):
        with pytest.raises(InputError) as caught:
            csv(content, name)
        assert type(caught.value) is InputError
        return str(caught.value)

    return message
