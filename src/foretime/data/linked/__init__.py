"""Statements of Wikidata and of RDF as facts: what each format says, and how time is attached to it."""
