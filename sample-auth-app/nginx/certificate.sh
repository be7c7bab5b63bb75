#!/bin/sh
# Makes a certificate for localhost where there is none, so that TLS works at the first start. The image of nginx runs this
# before it starts. For a real one, let TLS_DIRECTORY name a folder with tls.crt and tls.key.
set -eu
cd "${CERTIFICATES:?}"
if [ ! -e tls.crt ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost,DNS:nginx -keyout tls.key -out tls.crt
fi
