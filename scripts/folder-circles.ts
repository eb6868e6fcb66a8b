/** One module that imports another; both are paths from the project's root. */
export interface Import {
  readonly file: string
  readonly target: string
}

/** `plugins/<plugin>/<folder>` of a module; undefined for one that is in no folder of a plugin. */
const folderOf = (file: string): string | undefined => /^plugins\/[^/]+\/[^/]+(?=\/)/.exec(file)?.[0]

const pluginOf = (folder: string): string | undefined => folder.split('/')[1]

/** One line for each two folders of one plugin that import each other. */
export function checkFolders(imports: readonly Import[]): string[] {
  const found = new Map<string, string>()
  for (const { file, target } of imports) {
    const [from, to] = [folderOf(file), folderOf(target)]
    if (from && to && from !== to && pluginOf(from) === pluginOf(to)) found.set(`${from} ${to}`, file)
  }
  return [...found].flatMap(([pair, file]) => {
    const [from = '', to = ''] = pair.split(' ')
    const back = found.get(`${to} ${from}`)
    return back && from < to ? [`${from} and ${to} import each other: ${file}, ${back}`] : []
  })
}
