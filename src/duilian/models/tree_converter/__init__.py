"""Kind `tree-converter`: trees, relations and tags of one treebank made into those of another."""
