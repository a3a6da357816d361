"""What do we choose? The mode of a flow, and the settings that batch its records."""
