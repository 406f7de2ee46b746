"""The home pages, the start page of each role, the API's description, errors and health.

It may import all apps; nothing imports it but the settings and `portal.urls`.
"""
