import { printable } from '../../src/lib/printable.ts'

/** The syslog of this machine, or the address of another: `udp://HOST:PORT`, `tcp://HOST:PORT`. */
export type SyslogAddress = string

/** The syslog of this machine. */
export const LOCAL_SYSLOG = 'local'
const ADDRESS = /^(?:udp|tcp):\/\/(?:\[[\da-f:.]+\]|[\da-z][\w.-]*):\d{1,5}$/i

/** Why this is no address of a syslog; undefined: it is one. */
export function syslogProblem(address: SyslogAddress): string | undefined {
  return address === LOCAL_SYSLOG || ADDRESS.test(address)
    ? undefined
    : `syslog is "local", "udp://HOST:PORT" or "tcp://HOST:PORT", not "${printable(address)}"`
}
