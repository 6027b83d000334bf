import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFreePort } from '../../test/support/free-port.ts'
import { createDeployment } from '../../test/support/server.ts'

test('the simulated systems order an assessment from a new deployment and receive the report', async (t) => {
  const deployment = await createDeployment(t)
  const { url } = await deployment.serve()
  const { org_id } =
    (await deployment.json('org', 'list'))[0] ?? (await deployment.json('org', 'create', '--name', 'Acme'))
  const scope = ['--org', org_id, '--mode', 'test']
  const argumentsOf = async (adapter: string, persona: number) => [
    ...['ats', 'simulate', adapter, '--org', org_id, '--url', url],
    ...['--port', String(await findFreePort()), '--persona', String(persona)],
  ]
  const simulate = async (adapter: string, persona: number) => deployment.json(...(await argumentsOf(adapter, persona)))
  const simulation = await deployment.cli(...(await argumentsOf('greenhouse', 1)))
  assert.match(simulation.stdout, /Greenhouse shows the state "complete"\.\nReport: http/)
  assert.match(simulation.stderr, /→ POST \/send_test \{"partner_test_id":.* ← 200 \{"partner_interview_id"/)
  assert.match(simulation.stderr, /← PATCH \/integrations\/\S+ \(no body\) → 200/)
  assert.match(
    simulation.stderr,
    /→ GET \/test_status\S+ \(no body\) ← 200 \{"partner_status":"complete".*2 of 2 skills verified/,
  )
  // A candidate who declines is quicker.
  const [ashby, workable] = await Promise.all([simulate('ashby', 5), simulate('workable', 5)])
  assert.deepEqual([ashby.state, workable.state], ['cancelled', 'rejected'])
  const { stdout } = await deployment.cli('ats', 'orders', '--org', org_id)
  assert.match(stdout, /greenhouse .*completed .*result delivered/)
  assert.match(stdout, /ashby .*declined .*result delivered/)
  const connections: { adapter: string; connection_id: string }[] = await deployment.json(
    ...['ats', 'list', '--org', org_id],
  )
  assert.equal(connections.length, 3)
  assert.deepEqual(await deployment.json('ats', 'list', '--org', org_id, '--mode', 'live'), [])
  const connection = connections.find(({ adapter }) => adapter === 'greenhouse')!

  const [order] = await deployment.json('ats', 'orders', ...scope, '--connection', connection.connection_id)
  const replay = await deployment.cli('ats', 'replay', order.order_id)
  assert.match(replay.stdout, /Report 1 of AO_\w+ is sent again/)

  const { key, keys } = await deployment.json('ats', 'keys', connection.connection_id, '--create')
  assert.match(key, /^VAT_TEST_/)
  const { keys: keysAfter } = await deployment.json(
    ...['ats', 'keys', connection.connection_id, '--revoke', keys.at(-1).key_id],
  )
  assert.ok(keysAfter.at(-1).revoked_at)
  await deployment.json('ats', 'disconnect', connection.connection_id)
  assert.equal((await deployment.json('ats', 'list', ...scope))[0].state, 'disconnected')
})

test('connecting prints the key and the addresses for the ATS, and rejects missing credentials', async (t) => {
  const deployment = await createDeployment(t)
  const { org_id } = await deployment.json('org', 'create', '--name', 'Acme')
  const scope = ['--org', org_id, '--mode', 'live']
  const { stdout } = await deployment.cli('ats', 'connect', 'greenhouse', ...scope)
  assert.match(stdout, /VAT_LIVE_[\w-]{43}/)
  assert.match(stdout, /\/ats\/greenhouse\/send_test/)
  const { code, stderr } = await deployment.cli('ats', 'connect', 'ashby', ...scope)
  assert.equal(code, 1)
  assert.match(stderr, /token: is required for Ashby/)
  const invalid = await deployment.cli(
    ...['ats', 'connect', 'ashby', '--org', org_id, '--mode', 'test'],
    ...['--token', 'two words', '--consent-basis', ' ', '--api-url', 'http://10.0.0.1/'],
  )
  assert.equal(invalid.code, 1)
  assert.match(invalid.stderr, /token:? must have 1 to 1000 ASCII characters without spaces/)
  assert.match(invalid.stderr, /consent_basis:? must have 1 to 500 characters/)
  assert.match(invalid.stderr, /api_url:? must be a URL of Ashby \(ashbyhq\.com\); got the host 10\.0\.0\.1/)
  assert.deepEqual(await deployment.json('ats', 'list', '--org', org_id, '--mode', 'test'), [])
  const { url } = await deployment.serve()
  const revoked = await deployment.cli(
    ...['ats', 'simulate', 'ashby', '--url', url, '--port', String(await findFreePort()), '--key', 'VAT_TEST_unknown'],
  )
  assert.equal(revoked.code, 1)
  assert.match(revoked.stderr, /rejected the call for the list of tests with 401: The API key is missing, invalid or/)
  const help = await deployment.cli('ats', 'simulate', '--help')
  assert.match(help.stdout.replace(/\s+/g, ' '), /1 passes, 2 knocked out, .* 11 inconclusive skills/)
})
