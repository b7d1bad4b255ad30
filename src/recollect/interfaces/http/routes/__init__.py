"""The routes of the API, by what they are about. Each calls one method of the memory and names the payload."""
