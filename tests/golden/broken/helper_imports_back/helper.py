from tiny import weigh


def half(x):
    return weigh(x) / 2
