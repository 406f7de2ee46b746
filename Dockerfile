# One image for web and worker; the command chooses. See compose.yaml.
FROM python:3.11-slim-bookworm
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1
# Threads give memory back to the system instead of each keeping what it once needed.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=1048576 ARROW_DEFAULT_MEMORY_POOL=system
RUN useradd --create-home --uid 10001 factboard && mkdir /data && chown factboard /data
WORKDIR /app
COPY requirements/base.txt requirements/base.txt
RUN pip install --require-hashes -r requirements/base.txt
COPY . .
RUN pip install --no-deps --no-build-isolation --editable .
USER factboard
ENV VAR_DIR=/data
EXPOSE 8000
CMD ["granian", "--interface", "wsgi", "--host", "0.0.0.0", "--port", "8000", "--workers", "2", "--blocking-threads", "8", "--no-ws", "portal.wsgi:application"]
