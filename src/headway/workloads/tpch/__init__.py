"""TPC-H: the 22 queries with the parameters of its validation, and its tables made on the spot."""
