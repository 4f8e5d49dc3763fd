"""Files in and out: record streams, tables, YAML, schemas and atomic writes."""
