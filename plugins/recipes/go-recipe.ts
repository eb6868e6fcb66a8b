import { toRecipe } from './phases.ts'
import { type CheckedOptions, type Pinned, type Recipe, VERSION_LINE } from './recipe.ts'
import { run, runProgram } from './stages.ts'

const BUILDER = 'golang:1.26-alpine'
const RUNTIME = 'alpine:3.23'
const WANTS = ['git', 'ca-certificates']
const MODULES = '/fetched/modules'
const ENV = `ENV CGO_ENABLED=0 GOBIN=/out GOFLAGS=-buildvcs=false GOMODCACHE=${MODULES}`
/** Modules come from what was fetched, where they were compared with the checksum database. */
const OFFLINE = `ENV GOPROXY=file://${MODULES}/cache/download GOSUMDB=off`

/** A Go program from its module, built without cgo so that it needs nothing of the image it runs in. */
export function goRecipe({ reference, version }: Pinned, options: CheckedOptions): Recipe {
  const path = `${reference.name}@${version ?? reference.wanted ?? 'latest'}`
  return goImage(options, {
    fetch: [runProgram('go_install.sh', '-n', path)],
    build: [
      runProgram('go_install.sh', '-trimpath', path),
      'RUN mkdir -p /app && mv /out/* /app/mcp-server',
      `RUN go version -m /app/mcp-server | sed -n 's/^.mod.[^ \\t]*.\\([^ \\t]*\\).*/${VERSION_LINE}\\1/p'`,
    ],
  })
}

/** Local Go code, copied to `source/` of the build context. `main`: the folder with the program, relative to its module. */
export function localGoRecipe(main: string, options: CheckedOptions): Recipe {
  const source = ['COPY source/ /source/', 'WORKDIR /source']
  return goImage(options, {
    fetch: [...source, run('go', 'list', '-deps', `./${main}`)],
    build: [
      ...source,
      run('mkdir', '-p', '/app'),
      run('go', 'build', '-trimpath', '-o', '/app/mcp-server', `./${main}`),
      // A package that is no program makes a file that cannot be run.
      run('test', '-x', '/app/mcp-server'),
    ],
  })
}

function goImage(
  options: CheckedOptions,
  { fetch, build }: { fetch: readonly string[]; build: readonly string[] },
): Recipe {
  return toRecipe(
    {
      fetch: {
        image: options.image ?? BUILDER,
        wants: WANTS,
        folder: '/fetched',
        steps: [ENV, `RUN mkdir -p ${MODULES}`, ...fetch],
        files: new Map(),
      },
      build: { steps: [ENV, OFFLINE, ...build], files: new Map() },
      runtime: { image: options.image ?? RUNTIME, wants: ['ca-certificates'] },
    },
    options,
  )
}
