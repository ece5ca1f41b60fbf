"""What all our HTML pages share."""
