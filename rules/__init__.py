"""What an author writes, as data: rules, outputs, agents and policy, and how they are read and compiled."""
