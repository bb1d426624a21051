# The program alone, as a static binary, run by nobody in particular:
#
#   docker build -t etl2parquet .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" etl2parquet convert /data/traces -o /data/parquet
FROM rust:1-alpine AS build
# For the C sources of zstd, BLAKE3 and the allocator.
RUN apk add --no-cache build-base
WORKDIR /source
COPY . .
RUN cargo build --locked --profile dist --bins --features cloud
# `inspect` wants a folder for temporary files.
RUN install -D target/dist/etl2parquet /image/usr/local/bin/etl2parquet \
    && install -D -m 644 -t /image/licenses LICENSE-APACHE LICENSE-MIT schemas/LICENSE-TEXTS \
    && mkdir -m 1777 /image/tmp

FROM scratch
COPY --from=build /image/ /
USER 65534:65534
ENTRYPOINT ["/usr/local/bin/etl2parquet"]
