"""Reports on models: their contents and what they have learned."""
