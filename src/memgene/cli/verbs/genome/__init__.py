"""memgene genome show|diff|verify|pack|key: one file per verb."""
