"""Units of work, the ledger that keeps them, and executors that compute them."""
