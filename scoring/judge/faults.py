"""Why there is no verdict. Neither is ever a score of zero."""


class Unscored(Exception):
    """This question has no answer that can be used; others may."""


class Stopped(Exception):
    """No further call is made: the budget is spent, or the endpoint refuses us altogether."""
