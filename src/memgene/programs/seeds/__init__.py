"""Programs that evolution starts from."""
