/** For fish 3 and newer. */
export const fish = (ask: string): string => `# keelson completion for fish
function __keelson_complete
    set -l typed (commandline -opc)
    set -e typed[1]
    set -l current (commandline -ct)
    set -l lines (${ask} -- $typed "$current" 2>/dev/null)
    test (count $lines) -gt 0; or return
    set -l directive $lines[-1]
    set -e lines[-1]
    for line in $lines
        echo $line
    end
    set -l prefix ''
    set -l value $current
    if string match -q -- '--*=*' $current
        set prefix (string replace -r -- '=.*' '=' $current)
        set value (string replace -r -- '^[^=]*=' '' $current)
    end
    switch $directive
        case ':file'
            for path in (__fish_complete_path $value)
                echo $prefix$path
            end
        case ':directory'
            for path in (__fish_complete_directories $value)
                echo $prefix$path
            end
    end
end
complete -c keelson -e
complete -c keelson -f -a '(__keelson_complete)'
`
