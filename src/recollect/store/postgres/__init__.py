"""The store on PostgreSQL with pgvector: many machines, many tenants, the same product."""
