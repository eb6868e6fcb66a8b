import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { messageOf } from '../../src/errors.ts'
import { printable } from '../../src/lib/printable.ts'
import { runTool } from '../../src/lib/run-tool.ts'
import { toolEnvironment } from '../../src/lib/tool-environment.ts'
import type { Log } from '../../src/log.ts'
import { failures } from './failures.ts'
import type { AuditLog } from './service.ts'
import { LOCAL_SYSLOG, type SyslogAddress } from './syslog-address.ts'
import { LONGEST_LINE, toSyslogLine } from './syslog-line.ts'

/** Bytes that may wait for a syslog that is slow. */
const MOST_WAITING = 4 * 1024 * 1024
const TIMEOUT_MS = 5000
const RETRY_MS = 1000

/** Fails with `audit_syslog_unavailable` when the syslog cannot be reached now; over UDP nobody can tell. */
export async function checkSyslog(address: SyslogAddress): Promise<void> {
  const { status, stderr } = await runTool(commandFor(address), { input: '', timeoutMs: TIMEOUT_MS })
  if (status === 'ok') return
  const problem = status === 'missing' ? 'the program logger is not installed' : printable(stderr.trim())
  throw failures.audit_syslog_unavailable({ address, problem })
}

/**
 * Sends events to a syslog (RFC 5424; over TCP with the lengths of RFC 6587) by the program `logger`: a local syslog
 * listens on a socket of a kind that Node does not have. Nobody confirms that an event has arrived.
 */
export function openSyslog(address: SyslogAddress, log: Log): AuditLog {
  let child: ChildProcessByStdio<Writable, null, null> | undefined
  let problem: string | undefined
  let triedAt = Number.NEGATIVE_INFINITY

  function start(): void {
    const [program = '', ...args] = commandFor(address)
    triedAt = performance.now()
    const started = spawn(program, args, {
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: toolEnvironment(process.env),
    })
    const ended = (why: string) => {
      if (child !== started) return
      child = undefined
      problem = why
      log.error('The syslog of the audit cannot be written.', { syslog: address, error: why })
    }
    started.on('error', error => ended(messageOf(error)))
    started.on('exit', code => ended(`logger ended with ${code}`))
    started.stdin.on('error', error => ended(messageOf(error)))
    child = started
  }

  return {
    write(event) {
      if (!child && performance.now() - triedAt >= RETRY_MS) start()
      if (!child) return problem ?? 'logger does not run'
      if (child.stdin.writableLength > MOST_WAITING) return 'the syslog is too slow'
      child.stdin.write(`${toSyslogLine(event)}\n`)
      return undefined
    },
    close() {
      const last = child
      child = undefined
      last?.stdin.end()
    },
  }
}

function commandFor(address: SyslogAddress): readonly string[] {
  const common = ['--tag', 'keelson', '--priority', 'authpriv.info', '--size', `${LONGEST_LINE}`]
  if (address === LOCAL_SYSLOG) return ['logger', ...common, '--socket-errors=on']
  const { protocol, hostname, port } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '')
  const way = protocol === 'tcp:' ? ['--tcp', '--octet-count'] : ['--udp']
  return ['logger', ...common, '--rfc5424', '--server', host, '--port', port, ...way]
}
