"""The verb tend: what is done between questions so that the next answer is better."""
