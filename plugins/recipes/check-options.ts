import { X509Certificate } from 'node:crypto'
import type { PackageRequest } from '../../src/contracts/runtime.ts'
import { failures as core, messageOf } from '../../src/errors.ts'
import { readFileIfThere } from '../../src/lib/atomic-file.ts'
import { parseOciReference } from '../../src/lib/oci-reference.ts'
import { isRequirement } from '../../src/lib/package-reference.ts'
import { toTextCheck } from '../../src/lib/text-schema.ts'
import { NO_VARIABLES } from './build-settings.ts'
import { failures } from './failures.ts'
import type { CheckedOptions, RecipeOptions } from './recipe.ts'
import { systemPackage } from './system-package.ts'

/** A name, an address, or a domain with all below it. */
const HOST = /^(?:(?:\*?\.)?(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}|[0-9a-f:]*:[0-9a-f:.]*)$/i
const isSystemPackage = toTextCheck(systemPackage)

/** Reads and checks what goes into a Dockerfile, so that no value can be more than what it is for. */
export async function checkOptions(request: PackageRequest, options: RecipeOptions): Promise<CheckedOptions> {
  const { runtimeImage, addPackages = [], caCert, args = [], tag } = options
  const { allowHosts = [] } = options
  const allowNetwork = options.allowNetwork === true || allowHosts.length > 0
  const { buildWith, scheme } = request
  assertReference('runtime-image', runtimeImage)
  assertReference('tag', tag)
  const wrong = addPackages.find(name => !isSystemPackage(name))
  if (wrong !== undefined) {
    throw failures.recipe_option_invalid({
      flag: 'runtime-add-package',
      value: wrong,
      wanted: 'the name of a system package',
    })
  }
  if (buildWith.length > 0 && scheme !== 'uvx') {
    throw failures.recipe_option_useless({ flag: 'build-with', where: `${scheme}:// packages` })
  }
  // Compiling runs nothing of a module's.
  if (allowNetwork && scheme === 'go') {
    const flag = allowHosts.length > 0 ? 'allow-build-host' : 'allow-build-network'
    throw failures.recipe_option_useless({ flag, where: 'go:// packages' })
  }
  const noHost = allowHosts.find(host => !HOST.test(host))
  if (noHost !== undefined) {
    throw failures.recipe_option_invalid({
      flag: 'allow-build-host',
      value: noHost,
      wanted: 'a host without a port, such as github.com or .example.com',
    })
  }
  const constraint = buildWith.find(text => !isRequirement(text))
  if (constraint !== undefined) {
    throw failures.recipe_option_invalid({
      flag: 'build-with',
      value: constraint,
      wanted: 'a requirement such as "mcp<2"',
    })
  }
  const nul = args.find(arg => arg.includes('\0'))
  if (nul !== undefined) throw core.usage({ text: 'An argument holds a NUL character.' })
  return {
    image: runtimeImage,
    packages: [...new Set(addPackages)].sort(),
    ca: caCert ? await readCertificates(caCert, 'The file of --ca-cert') : undefined,
    args,
    buildWith,
    allowNetwork,
    allowHosts: [...new Set(allowHosts)].sort(),
    variables: NO_VARIABLES,
  }
}

function assertReference(flag: string, text: string | undefined): void {
  if (text === undefined || parseOciReference(text)) return
  throw failures.recipe_option_invalid({ flag, value: text, wanted: 'the name of an image' })
}

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Only the certificates of the file: a key that lies beside them stays where it is. `what` names it in failures. */
export async function readCertificates(path: string, what: string): Promise<string> {
  const text = await readFileIfThere(path).catch(error => {
    throw failures.recipe_ca_invalid(
      { what, path, problem: `cannot be read: ${messageOf(error)}` },
      { cause: error },
    )
  })
  if (text === undefined) throw core.file_missing({ path, what })
  const blocks = text.match(BLOCK) ?? []
  if (blocks.length === 0) throw failures.recipe_ca_invalid({ what, path, problem: 'holds no certificate.' })
  blocks.forEach((block, index) => {
    try {
      new X509Certificate(block)
    } catch (error) {
      const problem = `holds a broken certificate (number ${index + 1}).`
      throw failures.recipe_ca_invalid({ what, path, problem }, { cause: error })
    }
  })
  return `${blocks.map(block => block.replaceAll('\r\n', '\n')).join('\n')}\n`
}
