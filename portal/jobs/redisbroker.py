"""kombu's Redis transport without the one thing that ends a worker when Redis goes away.

When a connection breaks, kombu tries to put messages that were fetched but not yet begun back into
the very Redis it has just lost, fails with an error nobody catches, and the worker ends. Wake-ups
need no putting back.
"""

from kombu.transport import redis


class Channel(redis.Channel):
    do_restore = False


class Transport(redis.Transport):
    Channel = Channel
