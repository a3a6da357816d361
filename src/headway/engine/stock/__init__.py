"""Stock Spark, written by hand as its users write it: what headway is measured against."""
