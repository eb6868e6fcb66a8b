import { expect, test } from 'vitest'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import { podmanDialect } from '../../../plugins/runtime-podman/podman-dialect.ts'

const docker = (info: unknown) => dockerDialect.isolation.elsewhere(info)
const podman = (host: unknown) => podmanDialect.isolation.elsewhere({ host })

test('an engine on this host can isolate', () => {
  expect(
    docker({ OperatingSystem: 'Debian GNU/Linux 12', SecurityOptions: ['name=seccomp'] }),
  ).toBeUndefined()
  expect(podman({ serviceIsRemote: false, security: { rootless: false } })).toBeUndefined()
})

test('one whose networks are elsewhere cannot, and says so', () => {
  expect(docker({ SecurityOptions: ['name=seccomp', 'name=rootless'] })).toContain('rootless')
  expect(docker({ OperatingSystem: 'Docker Desktop' })).toContain('virtual machine')
  expect(podman({ security: { rootless: true } })).toContain('rootless')
  expect(podman({ serviceIsRemote: true, security: { rootless: false } })).toContain('remote')
})
