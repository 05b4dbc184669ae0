"""What people should annotate next, and files for those who do."""
