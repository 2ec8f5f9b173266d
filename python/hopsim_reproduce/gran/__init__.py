"""Gran et al. 2011: congestion control, switch arbitration and fairness in InfiniBand."""
