# The program in an image of Debian without a compiler: docker build -t assay . && docker run --rm -v "$PWD:/hlo" assay check my.hlo
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git
COPY . /src
WORKDIR /src
# What tools/packages.txt names, LLVM's own packages among it, is installed as on any machine.
RUN bash -c 'source tools/setup.sh && install_packages && cmake -S . -B build/image -G Ninja -DASSAY_TESTS=OFF && cmake --build build/image --target archive_folder && mv build/image/archive/assay-* /opt/assay'

FROM debian:12-slim
COPY --from=build /opt/assay /opt/assay
ENV PATH=/opt/assay/bin:$PATH
WORKDIR /hlo
ENTRYPOINT ["assay"]
