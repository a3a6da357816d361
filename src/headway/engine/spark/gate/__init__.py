"""The one place where headway steers Spark: what a batch admits is decided and logged here."""
