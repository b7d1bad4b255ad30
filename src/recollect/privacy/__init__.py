"""What may be kept, shown and sent: secrets, fences, exports and erasure."""
