import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { folderName } from '../../../plugins/runtime-process/packages/installed-package.ts'
import { listPackages, removePackage } from '../../../plugins/runtime-process/packages/stored-packages.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

vi.mock('node:fs/promises', async original => {
  const real = await original<typeof import('node:fs/promises')>()
  return { ...real, rm: vi.fn(real.rm) }
})

const IMAGE = 'npx://server@1.0.0'

/** A folder of packages with one package. */
async function store() {
  const folder = join(await temporaryFolder(), 'packages')
  const place = join(folder, 'npx', folderName(IMAGE))
  await mkdir(place, { recursive: true })
  await writeFile(join(place, 'server.js'), 'console.log("up"); setInterval(() => {}, 1000)')
  const record = { image: IMAGE, name: 'x', version: '1.0.0', installed_at: '', command: ['x'], needs: [] }
  await writeFile(join(place, 'keelson.json'), JSON.stringify(record))
  return { folder, place }
}

test('a package that a process of any installation runs stays', async () => {
  const { folder, place } = await store()
  const link = join(folder, '../link') // another installation may name the folder otherwise
  await symlink(folder, link)
  const program = join(link, 'npx', folderName(IMAGE), 'server.js')
  const server = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'exit')
  onTestFinished(() => void server.kill())
  await once(server.stdout, 'data')
  await expect(removePackage(folder, IMAGE)).rejects.toMatchObject({ code: 'process_package_in_use' })
  expect(existsSync(place)).toBe(true)

  server.kill()
  await ended
  await removePackage(folder, IMAGE)
  expect(await readdir(join(folder, 'npx'))).toEqual([])
  await removePackage(folder, IMAGE)
})

test('a deletion that is broken off leaves no package, and the next one clears up', async () => {
  const { folder, place } = await store()
  const real = (await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises')).rm
  vi.mocked(rm).mockImplementation((path, options) =>
    options?.recursive ? Promise.reject(new Error('killed')) : real(path, options),
  )
  await expect(removePackage(folder, IMAGE)).rejects.toThrow('killed')
  expect(existsSync(place)).toBe(false)
  expect(await listPackages(folder)).toEqual([])

  vi.mocked(rm).mockImplementation(real)
  await removePackage(folder, IMAGE)
  expect(await readdir(join(folder, 'npx'))).toEqual([])
})
