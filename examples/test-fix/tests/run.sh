# Runs the tests: all of them, or those of one component.
# Usage: sh tests/run.sh [COMPONENT]
failed=0
count=0

check() {
  count=$((count + 1))
  if [ "$2" = "$3" ]; then
    echo "ok $count - $1"
  else
    failed=$((failed + 1))
    echo "not ok $count - $1"
    echo "#   expected $3"
    echo "#        got $2"
  fi
}

if [ -n "$1" ]; then
  . "./tests/$1.test.sh"
else
  for file in tests/*.test.sh; do
    . "./$file"
  done
fi

echo "# $count tests, $failed failed"
[ "$failed" -eq 0 ]
