"""The verb remember: screen → shape → resolve → commit → project. Also the acts that change what is remembered."""
