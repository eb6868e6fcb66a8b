import { describe, expect, test } from 'vitest'
import { post, rpc } from '../proxy/test-proxy.ts'
import { awsWorld, METADATA, ROLE } from './aws-world.ts'

const as = (name: string) => ({ authorization: `Bearer token-of-${name}` })

test('a call reaches AWS signed with the credentials of the role of its caller', async () => {
  const { proxy, seen, asked } = await awsWorld()

  expect((await post(`${proxy.origin}/mcp`, rpc('ping', 1), as('ada'))).status).toBe(200)

  expect(asked.map(form => Object.fromEntries(form))).toEqual([
    {
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: ROLE,
      RoleSessionName: 'ada',
      DurationSeconds: '3600',
      WebIdentityToken: 'token-of-ada',
    },
  ])
  expect(seen).toHaveLength(1)
  expect(seen[0]).toMatchObject({ isSigned: true, method: 'POST', url: '/mcp' })
  expect(seen[0]?.body.toString()).toBe(rpc('ping', 1))
  expect(seen[0]?.headers.authorization).toContain('/eu-west-1/aws-mcp/aws4_request')
  expect(JSON.stringify(seen[0]?.headers)).not.toContain('token-of-ada')
})

describe('the signature holds', () => {
  test.each([
    [
      'for a path with an encoded ARN and a query',
      '/runtimes/arn%3Aaws%3Ax%2Fy/invocations?q=a%20b&p=%2F',
      rpc('ping', 1),
    ],
    ['for a body of many bytes', '/mcp', rpc('ping', 1, { text: 'ñ€'.repeat(60_000) })],
  ])('%s', async (_, path, body) => {
    const { proxy, seen } = await awsWorld({}, { path })
    await post(`${proxy.origin}/mcp`, body, as('ada'))
    expect(seen.map(({ isSigned, url }) => [isSigned, url])).toEqual([[true, path]])
  })

  test('for a request without a body, of which none is made', async () => {
    const { proxy, seen } = await awsWorld()
    await fetch(`${proxy.origin}/mcp`, { method: 'DELETE', headers: as('ada') })
    expect(
      seen.map(({ isSigned, method, headers }) => [isSigned, method, headers['content-length']]),
    ).toEqual([[true, 'DELETE', undefined]])
  })

  test('with another service and another role claim', async () => {
    const { proxy, seen } = await awsWorld({
      service: 'bedrock-agentcore',
      role_mappings: [{ claim: 'ada', role_arn: ROLE }],
      role_claim: 'sub',
    })
    await post(`${proxy.origin}/mcp`, rpc('ping', 1), as('ada'))
    expect(seen[0]?.isSigned).toBe(true)
    expect(seen[0]?.headers.authorization).toContain('/eu-west-1/bedrock-agentcore/')
  })

  test('whatever headers of AWS the client sends: none of them arrives', async () => {
    const { proxy, seen } = await awsWorld()
    await post(`${proxy.origin}/mcp`, rpc('ping', 1), {
      ...as('ada'),
      'x-amz-target': 'Other.Operation',
      'x-amz-security-token': 'stolen',
      'x-amz-date': '20000101T000000Z',
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    })
    expect(seen[0]?.isSigned).toBe(true)
    expect(seen[0]?.headers['x-amz-target']).toBeUndefined()
    expect(seen[0]?.headers['x-amz-content-sha256']).toBeUndefined()
    expect(seen[0]?.headers['x-amz-security-token']).toMatch(/^session-of-ASIA/)
  })
})

describe('with subject_provider_name', () => {
  const corp = { subject_provider_name: 'corp' }

  test('STS gets the token that the caller has at that upstream provider', async () => {
    const { proxy, seen, asked } = await awsWorld(corp, { upstream: { ada: 'token-at-corp' } })
    expect((await post(`${proxy.origin}/mcp`, rpc('ping', 1), as('ada'))).status).toBe(200)
    expect(asked.map(form => form.get('WebIdentityToken'))).toEqual(['token-at-corp'])
    expect(seen.map(({ isSigned }) => isSigned)).toEqual([true])
  })

  test('a caller without a token there is refused, and neither AWS nor STS is asked', async () => {
    const { proxy, seen, asked } = await awsWorld(corp, { upstream: { bob: 'token-at-corp' } })
    expect((await post(`${proxy.origin}/mcp`, rpc('ping', 1), as('ada'))).status).toBe(401)
    expect([seen, asked]).toEqual([[], []])
  })

  test('a workload is not opened whose provider nobody logs in at', async () => {
    await expect(awsWorld({ subject_provider_name: 'other' })).rejects.toThrow('no provider other')
  })
})

describe('each request is signed as it is sent', () => {
  const initialize = rpc('initialize', 0, { protocolVersion: '2025-11-25', capabilities: {} })

  test('after a redirect of the server: for its path', async () => {
    const world = await awsWorld()
    world.onCall = ({ url }, response) => {
      if (url !== '/mcp') return false
      response.writeHead(307, { location: '/moved/mcp?a=b' }).end()
      return true
    }
    const answer = await post(`${world.proxy.origin}/mcp`, rpc('ping', 1), as('ada'))
    expect(answer.status).toBe(200)
    expect(world.seen.map(({ url, isSigned }) => [url, isSigned])).toEqual([
      ['/mcp', true],
      ['/moved/mcp?a=b', true],
    ])
  })

  test('in a session that the server has lost: what opens it again, and the call', async () => {
    const world = await awsWorld()
    const lost = new Set<unknown>()
    let opened = 0
    world.onCall = ({ headers, body }, response) => {
      const id = headers['mcp-session-id']
      if (id !== undefined && lost.has(id)) response.writeHead(404).end()
      else if (body.includes('"initialize"')) {
        opened++
        response
          .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${opened}` })
          .end('{"jsonrpc":"2.0","id":0,"result":{}}')
      } else return false
      return true
    }
    const url = `${world.proxy.origin}/mcp`
    expect((await post(url, initialize, as('ada'))).status).toBe(200)
    lost.add('s1')
    const answer = await post(url, rpc('tools/list', 1), { ...as('ada'), 'mcp-session-id': 's1' })

    expect(answer.status).toBe(200)
    const methods = world.seen.map(({ body, headers, isSigned }) => [
      JSON.parse(body.toString()).method,
      headers['mcp-session-id'],
      isSigned,
    ])
    expect(methods).toEqual([
      ['initialize', undefined, true],
      ['tools/list', 's1', true],
      ['initialize', undefined, true],
      ['notifications/initialized', 's2', true],
      ['tools/list', 's2', true],
    ])
  })
})

test('credentials are got once for each caller, also by calls at the same time', async () => {
  const { proxy, seen, asked } = await awsWorld()
  const call = (name: string) => post(`${proxy.origin}/mcp`, rpc('ping', 1), as(name))

  await Promise.all(Array.from({ length: 10 }, () => call('ada')))
  await call('ada')
  await call('bob')

  expect(asked.map(form => form.get('RoleSessionName'))).toEqual(['ada', 'bob'])
  expect(seen.every(({ isSigned }) => isSigned)).toBe(true)
  const keys = seen.map(({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1])
  expect([new Set(keys.slice(0, 11)).size, new Set(keys).size]).toEqual([1, 2])
})

describe('AWS sees nothing of a call', () => {
  test.each([
    ['without a token', 'nobody', 401, 'no token'],
    ['whose caller has no role', 'eve', 403, 'No role of AWS is for this caller'],
    ['whose subject cannot name a session', 'pipe', 401, 'names no session'],
  ])('%s, nor does STS', async (_, name, status, text) => {
    const { proxy, seen, asked } = await awsWorld()
    const answer = await post(`${proxy.origin}/mcp`, rpc('ping', 1), as(name))
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(text)])
    expect([seen.length, asked.length]).toEqual([0, 0])
  })

  test.each([
    ['an expired token', 400, '{"Error":{"Code":"ExpiredTokenException"}}', 401],
    ['a token of a stranger', 400, '<Error><Code>InvalidIdentityToken</Code></Error>', 401],
    ['a role that does not trust the caller', 403, '{"Error":{"Code":"AccessDenied"}}', 403],
    ['too many calls', 400, '{"Error":{"Code":"Throttling"}}', 503],
    ['a failure', 500, '', 503],
    ['credentials that are none', 200, '{}', 503],
    ['a redirect', 307, '', 503],
  ])('where STS responds with %s, and it is not asked again at once', async (_, code, body, status) => {
    const { proxy, seen, asked, answer } = await awsWorld()
    answer(code, body)
    const call = async () => (await post(`${proxy.origin}/mcp`, rpc('ping', 1), as('ada'))).status
    expect([await call(), await call()]).toEqual([status, status])
    const { headers } = await post(`${proxy.origin}/mcp`, rpc('ping', 1), as('ada'))
    const place = `Bearer resource_metadata="${METADATA}", error="invalid_token"`
    expect(headers.get('www-authenticate')?.startsWith(place) ?? false).toBe(status === 401)
    expect([seen.length, asked.length]).toEqual([0, 1])
  })

  test('where STS cannot be reached', async () => {
    const { proxy, seen } = await awsWorld({}, { sts: 'http://127.0.0.1:1' })
    const answer = await post(`${proxy.origin}/mcp`, rpc('ping', 1), as('ada'))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
    expect(seen).toEqual([])
  })
})

test('a workload where nobody logs in is not opened', async () => {
  await expect(awsWorld({}, { config: { oidc_config: {} } })).rejects.toThrow('its callers do not log in')
})
