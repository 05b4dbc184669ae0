"""What all models share: settings, estimators, weights in files."""
