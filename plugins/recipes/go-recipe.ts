import { variableFiles, withVariables } from './build-variables.ts'
import type { CheckedOptions, Pinned, Recipe } from './recipe.ts'
import { VERSION_LINE } from './recipe.ts'
import { beginStage, caFiles, endStage, run, toDockerfile } from './stages.ts'

const BUILDER = 'golang:1.26-alpine'
const RUNTIME = 'alpine:3.23'
const WANTS = ['git', 'ca-certificates']
const ENV = 'ENV CGO_ENABLED=0 GOBIN=/out GOFLAGS=-buildvcs=false'

/** A Go program from its module, built without cgo so that it needs nothing of the image it runs in. */
export function goRecipe({ reference, version }: Pinned, options: CheckedOptions): Recipe {
  const path = `${reference.name}@${version ?? reference.wanted ?? 'latest'}`
  return goImage(options, [
    ENV,
    // `go install` refuses a module that replaces others; as a dependency it is built without them.
    `RUN go install -trimpath ${path} || { mkdir /tmp/build && cd /tmp/build && go mod init build.invalid/build && go get ${path} && go install -trimpath ${reference.name}; }`,
    'RUN mkdir -p /app && mv /out/* /app/mcp-server',
    `RUN go version -m /app/mcp-server | sed -n 's/^.mod.[^ \\t]*.\\([^ \\t]*\\).*/${VERSION_LINE}\\1/p'`,
  ])
}

/** Local Go code, copied to `source/` of the build context. `main`: the folder with the program, relative to its module. */
export function localGoRecipe(main: string, options: CheckedOptions): Recipe {
  return goImage(options, [
    ENV,
    'COPY source/ /source/',
    'WORKDIR /source',
    run('mkdir', '-p', '/app'),
    run('go', 'build', '-trimpath', '-o', '/app/mcp-server', `./${main}`),
    // A package that is no program makes a file that cannot be run.
    run('test', '-x', '/app/mcp-server'),
  ])
}

function goImage(options: CheckedOptions, build: readonly string[]): Recipe {
  return {
    dockerfile: toDockerfile([
      ...withVariables(
        [...beginStage(options.image ?? BUILDER, options, { as: 'builder', wants: WANTS }), ...build],
        options.variables,
      ),
      '',
      ...beginStage(options.image ?? RUNTIME, options, { wants: ['ca-certificates'] }),
      ...endStage(options.args),
    ]),
    files: new Map([...caFiles(options.ca), ...variableFiles(options.variables)]),
  }
}
