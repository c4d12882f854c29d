"""Features of images to search among: AND/OR patterns and patch prototypes."""
