. src/components/avatar.sh

check "avatar shows initials" \
  "$(avatar "Ada Lovelace")" '<span class="avatar" title="Ada Lovelace">AL</span>'
