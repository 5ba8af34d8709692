"""The agenda: which events the coming steps are likely to bring, and how likely each of them is."""
