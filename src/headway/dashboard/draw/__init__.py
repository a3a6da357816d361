"""Values to SVG: axes, plots over time, and the distribution; nothing here knows what a run is."""
