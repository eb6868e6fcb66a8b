/**
 * For Windows PowerShell 5.1 and PowerShell 7.
 *
 * PowerShell 5.1 does not pass empty words to programs, hence `--new-word`. PowerShell completes files when a
 * completer returns nothing, and does not when it returns an empty text.
 */
export const powershell = (ask: string): string => `# keelson completion for PowerShell
Register-ArgumentCompleter -Native -CommandName keelson -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @($commandAst.CommandElements |
        Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object { $_.Extent.Text.Trim("'", '"') })
    $new = @()
    if ($wordToComplete -eq '') { $new = @('--new-word') }

    $lines = @(${ask} @new '--' @words 2>$null)
    $directive = ':none'
    $results = @(foreach ($line in $lines) {
        if ($line.StartsWith(':')) { $directive = $line; continue }
        $value, $text = $line -split "\`t", 2
        if (-not $text) { $text = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $text)
    })
    if ($results.Count -gt 0) { return $results }
    if ($directive -eq ':none') { return '' }
}
`
