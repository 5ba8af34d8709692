"""One training in several processes: tables of entities in shards, questions of the evidence divided."""
