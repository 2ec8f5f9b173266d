"""Files of users: what documents name is read here, and whatever is written is written here."""
