"""Conversations over HTTP: the addresses and shapes of EDDI, and those that the page needs."""
