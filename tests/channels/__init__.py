"""What goes to other systems and comes from them."""
