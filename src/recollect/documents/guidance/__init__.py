"""What people and agents write down for agents (CLAUDE.md, AGENTS.md, .cursorrules, MEMORY.md …) as typed memories."""
