"""What users and we test with: nothing here is needed to run a flow."""
