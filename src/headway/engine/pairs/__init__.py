"""Python pairs by the bucket: packing records, updating states, packing answers; no Spark here."""
