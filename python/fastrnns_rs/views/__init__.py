"""What people see. Everything shown here was computed elsewhere."""
