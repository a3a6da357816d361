"""What was asked? A query as frozen data: building it runs nothing and needs no JVM."""
