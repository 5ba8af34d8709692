"""The combiner: a second stage that re-orders the best candidates of any model by everything known about them."""
