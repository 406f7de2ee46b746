"""kombu's Redis transport, without a bug that stops workers when Redis goes away.

When a connection breaks, kombu tries to return unprocessed messages to the same connection and
raises an error that nothing catches. Wake-up messages need not be returned.
"""

from kombu.transport import redis


class Channel(redis.Channel):
    do_restore = False


class Transport(redis.Transport):
    Channel = Channel
