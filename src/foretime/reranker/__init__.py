"""The re-ranker: boosted trees that order the best candidates of a base model anew."""
