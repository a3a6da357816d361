"""The product: flows compiled to Spark's Structured Streaming; the only importer of pyspark."""
