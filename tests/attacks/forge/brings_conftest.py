"""Line 20. Brings a conftest.py, a pytest.ini and a plugin that make every test pass.

Expected: softmax=wrong
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    return None


#--- conftest.py
print("LOOT: conftest.py was imported")
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"


#--- pytest.ini
[pytest]
addopts = -p plugin
#--- plugin.py
print("LOOT: plugin.py was imported")
#--- test_softmax.py
def test_passes(): print("LOOT: a test of the submission was run")
