"""Goes token by token.

Exercise: delta_rule_chunked
Believes: The recurrence gives the same result.
Shows: Results are correct, but there are several operations for each token.
Hint: How many operations do you execute for a chunk of 32?
Rejected by: test_steps
Costs: 75 %
"""

def delta_rule_chunked(q, k, v, beta, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    return delta_rule(q, k, v, beta, state)
