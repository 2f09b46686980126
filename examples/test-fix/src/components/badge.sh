# A badge: a word, and how many of that there are.
# Usage: badge WORD COUNT
badge() {
  word=$1
  count=$2
  printf '<span class="badge">%s <b>%s</b></span>\n' "$word" "$count"
}
