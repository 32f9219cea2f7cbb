"""The one error of the broker package."""


class BrokerError(RuntimeError):
    """The broker cannot be had or did not start; the text says what to do about it."""
