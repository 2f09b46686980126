# An avatar: the initials of a name.
# Usage: avatar NAME
avatar() {
  initials=
  for word in $1; do
    initials=$initials$(printf '%.1s' "$word")
  done
  printf '<span class="avatar" title="%s">%s</span>\n' "$1" "$initials"
}
