"""Labels on units: how annotation becomes labels, and labels become words again."""
