"""Home and start pages, API documentation, error pages and the health check.

May import all apps; imported only by the settings and `portal.urls`.
"""
