"""The room of conversations: sessions and episodes in, facts and reflections out, one fenced block before each call."""
