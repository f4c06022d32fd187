"""The logic of the verbs, one folder each. No verb imports torch: workers do."""
