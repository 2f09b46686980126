. src/components/badge.sh

check "badge shows its word and count" \
  "$(badge Inbox 7)" '<span class="badge">Inbox <b>7</b></span>'

# Since PR 128.
check "badge shows 99+ above 99 (see PR 128)" \
  "$(badge Inbox 128)" '<span class="badge">Inbox <b>99+</b></span>'
