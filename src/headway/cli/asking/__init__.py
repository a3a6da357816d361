"""`headway ask`: early answers of stored data, from the command line."""
