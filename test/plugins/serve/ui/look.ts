import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { source as axe } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Screenshots, for people to look at. */
const PICTURES = new URL('../../../../.keelson-test/page/', import.meta.url).pathname
/** What people reach with the keyboard, or jump to: it must say what it is. */
const NAMED = ['button', 'link', 'textbox', 'searchbox', 'combobox', 'tab', 'tabpanel', 'dialog', 'log']
const LANDMARKS = ['navigation', 'region']

/** Texts whose contrast with what is behind them is less than WCAG 2.2 asks for (1.4.3). */
const PALE = `(() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number)
  const light = ([r, g, b]) => [r, g, b].map(part => part / 255)
    .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0)
  const behind = one => {
    for (let at = one; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor
      if (color.startsWith('rgb(')) return parse(color)
    }
    return [255, 255, 255]
  }
  const texts = [...document.querySelectorAll('body *')].filter(one => one.checkVisibility() &&
    [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
  if (texts.length < 5) throw new Error('too little to look at')
  return texts.flatMap(one => {
    const style = getComputedStyle(one)
    const [a, b] = [light(parse(style.color)), light(behind(one))].sort((x, y) => y - x)
    const ratio = (a + 0.05) / (b + 0.05)
    return ratio < 4.5 ? [one.textContent.trim().slice(0, 40) + ' ' + ratio.toFixed(2)] : []
  })
})()`

/** Rules of WCAG 2.2 and good practice that the page breaks, as axe-core finds them. */
async function findBroken(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate<string[]>(
    'axe.run().then(found => found.violations.flatMap(({ id, nodes }) => nodes.map(one => id + " " + one.html)))',
  )
}

async function assertNamed(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  const seen = nodes.filter(node => !node.ignored)
  const roleOf = (node: (typeof seen)[number]) => String(node.role?.value)
  const nameless = seen.filter(
    node => [...NAMED, ...LANDMARKS].includes(roleOf(node)) && !String(node.name?.value ?? '').trim(),
  )
  expect(nameless.map(roleOf)).toEqual([])
  expect(seen.filter(node => roleOf(node) === 'button').length).toBeGreaterThan(0)
  await session.detach()
}

/**
 * Looks at a scene in light and dark, on wide and narrow screens: nothing is wider than the screen, texts can be read,
 * everything has a name, and axe-core finds nothing. Keeps a screenshot of each.
 */
export async function look(page: Page, scene: string): Promise<void> {
  await mkdir(PICTURES, { recursive: true })
  await page.mouse.move(0, 0)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 })
      const where = `${scene}-${colorScheme}-${width}`
      await page.screenshot({ path: join(PICTURES, `${where}.png`) })
      expect(await page.evaluate('document.documentElement.scrollWidth'), where).toBeLessThanOrEqual(width)
      expect(await page.evaluate(PALE), where).toEqual([])
      await assertNamed(page)
      expect(await findBroken(page), where).toEqual([])
    }
  }
  await page.setViewportSize({ width: 360, height: 860 })
  expect(await page.evaluate('document.documentElement.scrollWidth'), scene).toBeLessThanOrEqual(360)
}
