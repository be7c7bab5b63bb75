#!/bin/sh
# Starts the application on a free port with a database of its own, walks through the whole flow with curl, and stops it.
# Ends with a status that is not 0 as soon as a step does not answer what it should.
set -eu
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then kill -KILL "$server" 2>/dev/null || true; fi
  rm -rf "$scratch"
}
trap cleanup EXIT

# quoted WORDS...: the words as one would type them.
quoted() {
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9_./:=@%+-]*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
}

# step STATUS SENTENCE ARGUMENTS...: says what it does, calls curl with the arguments, shows the answer, checks its status.
step() {
  expected=$1 sentence=$2
  shift 2
  printf '\n# %s\n$ curl%s\n' "$sentence" "$(quoted "$@")"
  status=$(curl --silent --show-error --max-time 10 --dump-header "$scratch/head" --output "$scratch/body" \
    --write-out '%{http_code}' "$@")
  printf '%s %s\n' "$status" "$(head -c 400 "$scratch/body")"
  grep --ignore-case '^www-authenticate:' "$scratch/head" || true
  if [ "$status" != "$expected" ]; then
    printf 'expected %s\n' "$expected" >&2
    exit 1
  fi
  if [ "$status" = 401 ] && ! grep --quiet --ignore-case '^www-authenticate: Bearer' "$scratch/head"; then
    printf 'expected the header WWW-Authenticate: Bearer\n' >&2
    exit 1
  fi
}

# holds TEXT: checks that the last answer has the text in it.
holds() {
  if ! grep --quiet --fixed-strings -- "$1" "$scratch/body"; then
    printf 'expected an answer with %s\n' "$1" >&2
    exit 1
  fi
}

token() {
  sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p' "$scratch/body"
}

export NODE_ENV=development HOST=127.0.0.1 PORT=0 DATABASE_URL="file:$scratch/demo.db"
SECRET_KEY=$(node -p 'crypto.randomBytes(48).toString("base64")')
export SECRET_KEY
: >"$scratch/stdout"
node dist/server.js >"$scratch/stdout" 2>"$scratch/stderr" &
server=$!
for _ in $(seq 300); do
  if grep --quiet '^Try: ' "$scratch/stdout"; then break; fi
  if ! kill -0 "$server" 2>/dev/null; then break; fi
  sleep 0.1
done
cat "$scratch/stdout" "$scratch/stderr"
url=$(sed -n 's/^Ready on \([^,]*\),.*/\1/p' "$scratch/stdout")
[ -n "$url" ] || exit 1

step 200 "The server answers" "$url/health"
step 200 "It documents itself" "$url/docs"
holds swagger-ui
step 200 "The demo user logs in; the refresh token goes into a cookie" \
  -c "$scratch/cookies" -d username=demo -d password=demo-password "$url/auth/token"
holds '"token_type":"bearer"'
bearer="Authorization: Bearer $(token)"
step 200 "The token says who it is" -H "$bearer" "$url/users/me"
holds '{"username":"demo","email":"demo@example.com","disabled":false}'
step 200 "The user's three items" -H "$bearer" "$url/items"
holds '{"id":1,"name":"Notebook","owner":"demo"}'
step 401 "A wrong password" -d username=demo -d password=wrong "$url/auth/token"
holds '{"detail":"Incorrect username or password"}'
tampered=$(printf '%s' "$bearer" | sed 's/A\(.\{9\}\)$/B\1/; t; s/.\(.\{9\}\)$/A\1/')
step 401 "A token with one character changed" -H "$tampered" "$url/users/me"
holds '{"detail":"Could not validate credentials"}'
step 401 "No token" "$url/items"
step 422 "A form without a password" -d username=demo "$url/auth/token"

cp "$scratch/cookies" "$scratch/used"
step 200 "The cookie gives a new token, and a new cookie" -X POST -b "$scratch/cookies" -c "$scratch/cookies" "$url/auth/refresh"
step 200 "The new token is good" -H "Authorization: Bearer $(token)" "$url/users/me"
step 401 "The used cookie is refused, and ends the session" -X POST -b "$scratch/used" "$url/auth/refresh"
step 401 "So the new cookie is refused as well" -X POST -b "$scratch/cookies" "$url/auth/refresh"

alice='{"username":"alice","email":"alice@example.com","password":"correct horse"}'
step 201 "Alice registers" -H 'Content-Type: application/json' -d "$alice" "$url/users"
holds '{"username":"alice","email":"alice@example.com","disabled":false}'
step 409 "The name is taken now" -H 'Content-Type: application/json' -d "$alice" "$url/users"
step 200 "Alice logs in" -c "$scratch/cookies" -d username=alice -d 'password=correct horse' "$url/auth/token"
step 404 "The demo user's item is nothing that Alice may know of" -H "Authorization: Bearer $(token)" "$url/items/1"
step 403 "Another site cannot log her out" -X POST -b "$scratch/cookies" -H 'Origin: https://elsewhere.example' "$url/auth/logout"
step 204 "She can" -X POST -b "$scratch/cookies" -c "$scratch/cookies" "$url/auth/logout"

printf '\n# Ctrl-C\n'
kill -INT "$server"
status=0
wait "$server" || status=$?
server=
printf 'the server ended with status %s\n' "$status"
exit "$status"
