"""What happens in a turn: facts, the matcher, conversation memory, the executor, failures, digests."""
