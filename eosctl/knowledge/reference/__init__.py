"""The reference behind ``explain`` and ``diagnose``: entries, symptoms, synonyms, a Chinese glossary, and the index."""
