"""Home and start pages, navigation, documentation, the root of the API, error pages, health check.

May import all apps; imported only by the settings and `portal.urls`.
"""
