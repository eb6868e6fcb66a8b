/**
 * For bash 3.2 and newer; needs no bash-completion.
 *
 * The line is split at spaces here, since bash itself also splits at `=` and `:` and then replaces
 * only what stands behind them: `--proxy-mode=sse`, `npx://x`.
 */
export const bash = (ask: string): string => `# keelson completion for bash
_keelson() {
  local line=\${COMP_LINE:0:COMP_POINT} words current value text directive=':none' before
  read -ra words <<< "$line"
  [[ $line =~ [[:space:]]$ ]] && words+=('')
  current=\${words[\${#words[@]}-1]}
  before=\${current%"\${current##*[=:]}"}
  [[ $COMP_WORDBREAKS == *[=:]* ]] || before=''

  local values=() texts=()
  while IFS=$'\\t' read -r value text; do
    if [[ $value == :* ]]; then directive=$value; continue; fi
    values+=("\${value#"$before"}")
    texts+=("$text")
  done < <(${ask} -- "\${words[@]:1}" 2>/dev/null)

  COMPREPLY=()
  local i
  for ((i = 0; i < \${#values[@]}; i++)); do
    # What a word means is shown only where it cannot end up in the line: in a list of several.
    if ((\${#values[@]} > 1)) && [[ -n \${texts[i]} && ( \${COMP_TYPE:-9} == 9 || \${COMP_TYPE:-9} == 63 ) ]]; then
      COMPREPLY+=("\${values[i]}  (\${texts[i]})")
    else
      COMPREPLY+=("\${values[i]}")
    fi
  done

  local kind=''
  [[ $directive == :file ]] && kind=-f
  [[ $directive == :directory ]] && kind=-d
  if [[ -n $kind ]]; then
    [[ $current == --*=* ]] && current=\${current#*=}
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen $kind -- "$current")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _keelson keelson
`
