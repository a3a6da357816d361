"""Where do test records come from? Makers whose record n depends on n and a seed alone."""
