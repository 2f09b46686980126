# A badge: a label, and how many of it there are.
# Usage: badge LABEL COUNT
badge() {
  label=$1
  count=$2
  printf '<span class="badge">%s <b>%s</b></span>\n' "$label" "$count"
}
