def weigh(x:
    return x
