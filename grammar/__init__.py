"""The rule language: text to models, models to text, and explanations in words."""
