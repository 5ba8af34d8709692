"""How time and memory of every stage grow with the events and the entities of a graph."""
