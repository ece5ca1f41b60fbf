"""Returns the first model for every file.

Exercise: load_weights
Believes: Loading once is enough.
Shows: A second file is ignored.
Hint: Load two files. Do the models differ?
Rejected by: test_two_files
Costs: 35 %
"""

_load, _models = load_weights, []


def load_weights(path):
    if not _models:
        _models.append(_load(path))
    return _models[0]
