# The worker's image: the locked runtime packages and misdeal, nothing to build or test with, not root.
# No Java is in it: `misdeal broker` and `misdeal demo` are for a machine of your own.

FROM python:3.12-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
COPY requirements.lock requirements-runtime.lock ./
RUN python -m venv /opt/misdeal \
    && /opt/misdeal/bin/pip install --require-hashes -r requirements-runtime.lock
# The wheel is built by the locked build backend, which the other lock holds beside all that developers need.
RUN awk '/^[a-z]/ {ours = /^(hatchling|packaging|pathspec|pluggy|tomlkit|trove-classifiers)==/} ours' requirements.lock \
        > backend.lock \
    && pip install --require-hashes -r backend.lock
COPY pyproject.toml README.md LICENSE ./
COPY stream stream
RUN pip wheel --no-deps --no-build-isolation --wheel-dir wheels . \
    && /opt/misdeal/bin/pip install --no-deps --no-index wheels/*.whl

FROM python:3.12-slim
RUN useradd --uid 10001 --create-home --home-dir /var/lib/misdeal --shell /usr/sbin/nologin misdeal
COPY --from=build /opt/misdeal /opt/misdeal
ENV PATH=/opt/misdeal/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# By number, so that an orchestrator can see that it is not root.
USER 10001
WORKDIR /var/lib/misdeal
EXPOSE 8080
ENTRYPOINT ["misdeal"]
CMD ["--help"]
