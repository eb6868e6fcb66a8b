/** For zsh, sourced or as a file \`_keelson\` in \`fpath\`. */
export const zsh = (ask: string): string => `#compdef keelson
# keelson completion for zsh
_keelson() {
  local line value text directive=':none' tab=$'\\t'
  local -a typed values shown
  typed=("\${(@Q)words[2,CURRENT-1]}" "$PREFIX")
  while IFS= read -r line; do
    if [[ $line == :* ]]; then directive=$line; continue; fi
    value=\${line%%$tab*}
    text=''
    [[ $line == *$tab* ]] && text=\${line#*$tab}
    values+=("$value")
    shown+=("$value\${text:+  -- $text}")
  done < <(${ask} -- "\${typed[@]}" 2>/dev/null)

  local found=1
  (( \${#values} )) && compadd -l -d shown -a values && found=0
  if [[ $directive == :file || $directive == :directory ]]; then
    compset -P '--*='
    if [[ $directive == :file ]]; then _files && found=0; else _files -/ && found=0; fi
  fi
  return found
}
if [[ $funcstack[1] == _keelson ]]; then _keelson "$@"; else compdef _keelson keelson; fi
`
