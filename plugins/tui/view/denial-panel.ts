import { useEffect, useState } from 'react'
import { clean } from '../../../src/lib/printable.ts'
import type { Denial } from '../../egress/index.ts'
import { DENIAL_KEYS } from './keys.ts'
import { line, windowOf } from './lines.ts'
import { contains, type PanelProps } from './panel.ts'
import { panelLines } from './panel-lines.ts'
import { useKeys, useLive } from './use-keys.ts'

const LOOK_MS = 2000
/** Width of the mark and the time before a destination, and of a gap. */
const MARGIN = 14

/** Where the workload was not let, and a key that lets it. */
export function DenialPanel({
  bench,
  row,
  width,
  height,
  search,
  isActive,
  onLeave,
  onSearch,
  say,
}: PanelProps) {
  const { name } = row
  const [known, setKnown] = useState<readonly Denial[]>()
  const at = useLive(() => 0)
  useEffect(() => {
    let isOver = false
    const look = () =>
      bench.denials(name).then(
        denials => {
          if (!isOver) setKnown(denials)
        },
        (error: Error) => say(error.message),
      )
    void look()
    const timer = setInterval(look, LOOK_MS)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [bench, name, say])

  const denials = (known ?? []).filter(({ host = '' }) => contains(host, search))
  const chosen = Math.min(at.now, denials.length - 1)
  const move = (by: number) => at.set(Math.max(0, Math.min(at.now + by, denials.length - 1)))

  async function allow({ host = '', port = 0 }: Denial): Promise<void> {
    const where = `${host}:${port}`
    if (where.length > width - MARGIN) {
      say(`Its name is too long to be seen whole here. See: keelson logs ${name} --proxy`)
      return
    }
    say(`Letting ${name} reach ${where} ...`)
    const isAllowed = await bench.allow(name, { host, port }).catch((error: Error) => {
      say(error.message)
    })
    if (isAllowed) say(`${name} may reach ${where} from now on.`)
    if (isAllowed === false)
      say(
        `It may reach ${where} already, or its profile cannot allow it: keelson egress explain ${name} ${where}`,
      )
  }

  useKeys(
    (input, key) => {
      if (key.escape) onLeave()
      else if (input === '/') onSearch()
      else if (key.upArrow) move(-1)
      else if (key.downArrow) move(1)
      else if (input === 'a' && denials[chosen]) void allow(denials[chosen])
    },
    { isActive },
  )
  const nothing = known ? 'Nothing was denied lately.' : 'Reading ...'
  const rows = windowOf(denials, { height: height - 1, chosen }).map(denial => {
    const { time, host = '', port, reason = '' } = denial
    const mark = isActive && denial === denials[chosen] ? '> ' : '  '
    const text = `${mark}${time.slice(11, 19)}  ${host}:${port}  ${reason}`
    return line(clean(text), { key: `${port} ${host}` })
  })
  return panelLines(rows, { height, width, nothing, keys: isActive ? DENIAL_KEYS : undefined })
}
