import { chmod, copyFile, mkdir, readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** Copies a checked folder of regular files. Only the user may write the copies; executable files stay executable. */
export async function copyTree(from: string, to: string): Promise<void> {
  await makeFolder(to)
  const entries = await readdir(from, { recursive: true, withFileTypes: true })
  const pathOf = (entry: (typeof entries)[number]) => relative(from, join(entry.parentPath, entry.name))
  const folders = entries.filter(entry => entry.isDirectory()).map(pathOf)
  for (const folder of folders.sort()) await makeFolder(join(to, folder))
  for (const entry of entries.filter(entry => entry.isFile())) {
    const path = pathOf(entry)
    await copyFile(join(from, path), join(to, path))
    const { mode } = await stat(join(from, path))
    await chmod(join(to, path), mode & 0o111 ? 0o755 : 0o644)
  }
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path)
  await chmod(path, 0o755) // regardless of the umask: clients may run as another user
}
