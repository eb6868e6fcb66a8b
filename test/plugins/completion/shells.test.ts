import { spawnSync } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'
import { allNeed } from '../../support/left-out.ts'
import { main } from '../../support/main.ts'

/** Why a shell cannot be tried here. */
const problemOf = (shell: string): string | undefined =>
  spawnSync(shell, ['--version']).status === 0 ? undefined : `${shell} is missing (apt-get install ${shell})`

/** A user with a program called `keelson` in the path, two workloads and a script for the shell. */
async function shellUser(shell: string, ...flags: string[]) {
  const user = await keelsonUser()
  await mkdir(join(user.home, 'bin'))
  const program = join(user.home, 'bin/keelson')
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  await chmod(program, 0o755)
  const configs = join(user.home, '.local/state/keelson/runconfigs')
  await mkdir(configs, { recursive: true })
  for (const name of ['alpha', 'beta']) await writeFile(join(configs, `${name}.json`), '{}')
  await writeFile(join(user.home, 'some file.env'), '')
  const script = join(user.home, 'completion')
  await writeFile(script, (await user.run(['completion', shell, ...flags])).stdout)
  return { ...user, script, env: { ...user.env, PATH: `${join(user.home, 'bin')}:${user.env.PATH}` } }
}

const run = async (user: KeelsonUser, command: string, args: string[]): Promise<string> => {
  const options = { cwd: user.home, env: user.env, extendEnv: false, timeout: 20_000 } as const
  return (await execa(command, args, options)).stdout
}

describe('in bash', () => {
  allNeed(problemOf('bash'))

  /** Calls the function as readline does and prints what it answers. */
  const press = async (line: string, { type = 9, flags = [] as string[] } = {}) => {
    const user = await shellUser('bash', ...flags)
    const code = `source '${user.script}'; COMP_LINE=$1 COMP_POINT=\${#1} COMP_TYPE=${type}; _keelson; printf '%s\\n' "\${COMPREPLY[@]}"`
    return (await run(user, 'bash', ['--norc', '-c', code, 'bash', line])).split('\n')
  }

  test('a command is completed', async () => {
    expect(await press('keelson plugin li')).toEqual(['list'])
  })

  test('a list says what each word means', async () => {
    expect(await press('keelson plugin ')).toContain('list  (list the plugins that you have added)')
  })

  test('--no-descriptions leaves the meanings out', async () => {
    expect(await press('keelson plugin ', { flags: ['--no-descriptions'] })).toEqual([
      'add',
      'list',
      'remove',
    ])
  })

  test('what goes into the line itself carries no meaning (menu-complete)', async () => {
    expect(await press('keelson plugin ', { type: 37 })).toEqual(['add', 'list', 'remove'])
  })

  test('workloads are completed', async () => {
    expect(await press('keelson stop a')).toEqual(['alpha'])
  })

  test('bash splits at =, so only the text behind it is completed', async () => {
    expect(await press('keelson plugin list --format=j')).toEqual(['json'])
  })

  test('files are completed, also with a space in the name', async () => {
    expect(await press('keelson run --env-file some')).toEqual(['some file.env'])
    expect(await press('keelson run --env-file=some')).toEqual(['some file.env'])
  })

  test('the cursor in the middle of a line completes the word that it stands on', async () => {
    const user = await shellUser('bash')
    const code = `source '${user.script}'; COMP_LINE='keelson pl list' COMP_POINT=10; _keelson; printf '%s\\n' "\${COMPREPLY[@]}"`

    expect(await run(user, 'bash', ['--norc', '-c', code])).toBe('plugin')
  })

  test('without candidates it succeeds', async () => {
    expect(await press('keelson nosuch ')).toEqual([''])
  })
})

describe('in zsh', () => {
  allNeed(problemOf('zsh'))

  /**
   * Types the line into a real interactive shell, presses the keys, and returns what the line became and what was
   * listed. Before its editor is ready, the terminal would take ^D for the end of the input.
   */
  const press = async (line: string) => {
    const user = await shellUser('zsh')
    const driver = `
zmodload zsh/zpty
zpty shell 'TERM=dumb PS1= zsh -f -i'
zpty -w shell 'autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste; setopt no_beep; stty columns 200; source ${user.script}'
zpty -w shell 'finish() { zle complete-word; print -r -- "LINE<$BUFFER>" }; zle -N finish; bindkey "^X" finish; bindkey "^D" list-choices; PS1=; ready() { print -r -- REA""DY }; zle -N zle-line-init ready'
zpty -r -m shell out '*READY*'
zpty -w -n shell "$1"$'\\x04\\x18'
zpty -r -m shell out '*LINE<*>*'
print -r -- "$out"
zpty -d shell`
    const shown = await run(user, 'zsh', ['-f', '-c', driver, 'zsh', line])
    return { line: /LINE<(.*)>/.exec(shown)?.[1], shown }
  }

  test.each([
    ['keelson plugin li', 'keelson plugin list '],
    ['keelson stop al', 'keelson stop alpha '],
    ['keelson stop alpha ', 'keelson stop alpha beta '],
    ['keelson plugin list --form', 'keelson plugin list --format '],
    ['keelson plugin list --format=j', 'keelson plugin list --format=json '],
    ['keelson run --env-file som', 'keelson run --env-file some\\ file.env '],
    ['keelson run --env-file=som', 'keelson run --env-file=some\\ file.env '],
    ['keelson nosuch ', 'keelson nosuch '],
  ])('%j becomes %j', async (typed, completed) => {
    expect((await press(typed)).line).toBe(completed)
  })

  test('a list says what each word means', async () => {
    expect((await press('keelson plugin ')).shown).toContain('list  -- list the plugins that you have added')
  })
})

describe('in fish', () => {
  allNeed(problemOf('fish'))

  const press = async (line: string, ...flags: string[]) => {
    const user = await shellUser('fish', ...flags)
    const code = 'source $argv[1]; complete -C $argv[2]'
    return (await run(user, 'fish', ['--no-config', '-c', code, user.script, line])).split('\n')
  }

  test.each([
    ['keelson plugin li', ['list\tlist the plugins that you have added']],
    ['keelson stop al', ['alpha\tworkload']],
    ['keelson stop alpha ', ['beta\tworkload']],
    ['keelson plugin list --format ', ['json', 'text']],
    ['keelson plugin list --format=j', ['--format=json']],
    ['keelson run --env-file som', ['some file.env']],
    ['keelson run --env-file=som', ['--env-file=some file.env']],
    ['keelson nosuch ', ['']],
  ])('%j offers %j', async (typed, offered) => {
    expect(await press(typed)).toEqual(offered)
  })

  test('--no-descriptions leaves the meanings out', async () => {
    expect(await press('keelson plugin ', '--no-descriptions')).toEqual(['add', 'list', 'remove'])
  })
})

test('the PowerShell script asks keelson, and is registered for it', async () => {
  const { stdout } = await (await keelsonUser()).run(['completion', 'powershell'])

  expect(stdout).toContain('Register-ArgumentCompleter -Native -CommandName keelson')
  expect(stdout).toContain("keelson __complete @new '--' @words")
})
