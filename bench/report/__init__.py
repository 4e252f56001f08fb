"""What all benchmark runners share: finding allocators, starting programs, order, statistics, tables, environment."""
