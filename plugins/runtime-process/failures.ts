import { defineFailures } from '../../src/errors.ts'
import { PACKAGE_FORM } from '../../src/lib/package-reference.ts'

const ENGINE = 'use docker or podman (`--runtime docker`)'

export const failures = defineFailures({
  process_package_invalid: {
    status: 400,
    text: (d: { scheme: keyof typeof PACKAGE_FORM; package: string }) =>
      `"${d.package}" is not a package that ${d.scheme}:// can run.`,
    hint: (d: { scheme: keyof typeof PACKAGE_FORM }) => `Write ${PACKAGE_FORM[d.scheme]}.`,
  },
  process_package_absent: {
    status: 404,
    text: (d: { package: string; problem: string }) => `There is no package ${d.package}: ${d.problem}`,
    hint: 'Check the name and the version.',
  },
  process_package_unfit: {
    status: 400,
    text: (d: { package: string; problem: string }) =>
      `${d.package} does not run on the Python of this machine: ${d.problem}`,
    hint: `Install a Python that it supports, or ${ENGINE}: its image has a Python of its own.`,
  },
  process_package_unresolved: {
    status: 502,
    text: (d: { package: string; problem: string }) =>
      `The newest version of ${d.package} cannot be found out: ${d.problem}`,
    hint: 'Check the network, or name an exact version that was installed before.',
  },
  process_install_failed: {
    status: 502,
    text: (d: { package: string; problem: string }) => `${d.package} could not be installed: ${d.problem}`,
    hint: d =>
      /no such (?:package|version)/.test(d.problem)
        ? 'Check the name and the version.'
        : /needs Python/.test(d.problem)
          ? `Install such a Python, or ${ENGINE}: its image has a Python of its own.`
          : `Installing here runs no code of packages; one that must be built on installation needs a container: ${ENGINE}.`,
  },
  process_tool_missing: {
    status: 503,
    text: (d: { scheme: string; tool: string }) =>
      `${d.scheme}:// packages need ${d.tool}, which is not installed.`,
    hint: d => `Install ${d.tool}, or ${ENGINE}.`,
  },
  process_entry_missing: {
    status: 400,
    text: (d: { package: string; file: string }) =>
      `${d.package} names ${d.file} as its program, which is not there after the installation.`,
    hint: 'Install scripts are not run on this host; a package that needs them runs in docker or podman.',
  },
  process_entry_outside: {
    status: 400,
    text: (d: { package: string; file: string }) =>
      `${d.package} names "${d.file}" as its program, which is not a file inside the package.`,
    hint: 'Do not run this package: an honest package has no reason to do that.',
  },
  process_python_in_home: {
    status: 400,
    text: (d: { program: string; prefix: string }) =>
      `${d.program} is installed in ${d.prefix}, which contains your home folder: a server that uses it could read all of it.`,
    hint: 'Install Python in a folder of its own, or use docker or podman (`--runtime docker`).',
  },
  process_no_entry: {
    status: 400,
    text: (d: { package: string; names: readonly string[] }) =>
      d.names.length === 0
        ? `${d.package} has no program to run.`
        : `${d.package} has several programs (${d.names.join(', ')}) and none of them has its name.`,
  },
  process_not_installed: {
    status: 409,
    text: (d: { image: string }) => `The process runtime cannot run "${d.image}".`,
    hint: `It runs npx://, uvx:// and go:// packages that it has installed itself: run the package again, or ${ENGINE} for images.`,
  },
  process_package_in_use: {
    status: 409,
    text: (d: { image: string }) => `The package "${d.image}" cannot be removed: a process runs it.`,
    hint: 'Stop that server first. It may belong to another installation of keelson with the same cache folder.',
  },
  process_refused: {
    status: 400,
    text: (d: { name: string; what: string; hint: string }) =>
      `The process runtime cannot give "${d.name}" ${d.what}.`,
    hint: d => d.hint,
  },
  sandbox_missing: {
    status: 503,
    text: (d: { name: string; problem: string; hint: string }) => `"${d.name}" was not started: ${d.problem}`,
    hint: d =>
      `${d.hint} --no-sandbox runs it anyway: the server can then read, change and reach everything that you can.`,
  },
  process_forgotten: {
    status: 409,
    text: (d: { name: string }) =>
      `"${d.name}" cannot be started: its environment was only in the memory of the process that made it.`,
    hint: 'Make it anew.',
  },
  process_start_failed: {
    status: 500,
    text: (d: { name: string; problem: string }) => `"${d.name}" could not be started: ${d.problem}`,
  },
})
