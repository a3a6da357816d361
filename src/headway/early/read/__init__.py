"""From SQL to the algebra: sources, subqueries, groups, windows, one file each."""
