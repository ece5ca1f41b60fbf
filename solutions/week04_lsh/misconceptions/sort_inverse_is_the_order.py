"""Returns the order itself as its own inverse.

Exercise: sort_by_bucket
Believes: Applying a permutation twice undoes it.
Shows: Right for a single swap; wrong as soon as three positions move in a cycle.
Hint: Take the order 1, 2, 0 and apply it twice on paper. Are you back at the start?
Rejected by: test_inverse_leads_back
Costs: 90 %
Belief: order_taken_for_its_inverse
"""


def sort_by_bucket(buckets):
    order = buckets.argsort(dim=-1, stable=True)
    return order, order.clone()
