import pytest

from client import Server


@pytest.fixture
def server():
    """Initialized, and without proofs. It has to end in order."""
    server = Server("--no-proofs")
    server.initialize()
    yield server
    assert server.end() == 0
