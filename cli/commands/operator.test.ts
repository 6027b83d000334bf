import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeployment } from '../../test/support/server.ts'

test('operators can be added, listed and removed, and a printed link signs one in', async (t) => {
  const { serve, json, cli } = await createDeployment(t, { embedded: true })
  const server = await serve({ env: { OPERATOR_EMAIL: 'first@example.com' } })
  assert.equal((await json('operator', 'add', 'meera@example.com')).email, 'meera@example.com')
  const duplicate = await cli('operator', 'add', 'Meera@example.com')
  assert.deepEqual([duplicate.code, /already an operator/.test(duplicate.stderr)], [1, true])
  assert.match((await cli('operator', 'add', 'no address')).stderr, /Expected an email address/)
  assert.deepEqual(
    (await json('operator', 'list')).map(({ email }: { email: string }) => email),
    ['first@example.com', 'meera@example.com'],
  )

  const { url } = await json('operator', 'link', 'meera@example.com')
  // Without PUBLIC_URL, the command knows the address of a server with the same data folder only.
  assert.ok(url.startsWith(server.url))
  assert.match(url, /\/console\/sign-in#token=/)
  const response = await fetch(`${server.url}/console/api/sign-in/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: url.split('#token=')[1] }),
  })
  const cookie = response.headers.get('set-cookie')!.split(';')[0]!
  const readOperators = () => fetch(`${server.url}/console/api/operator/operators`, { headers: { cookie } })
  assert.equal((await readOperators()).status, 200)

  assert.equal((await cli('operator', 'remove', 'meera@example.com')).code, 0)
  assert.equal((await readOperators()).status, 401, 'removal takes effect immediately')
  assert.match((await cli('operator', 'link', 'meera@example.com')).stderr, /is not an operator/)
  assert.match((await cli('operator', 'remove', 'first@example.com')).stderr, /only operator/)

  assert.deepEqual(await json('audit', 'verify').then(({ valid, broken }) => [valid, broken]), [true, null])
  const lines = (await cli('audit', 'export')).stdout.trim().split('\n')
  const actions = lines.map((line) => JSON.parse(line)).map(({ action, actor }) => `${actor} ${action}`)
  for (const action of ['server operator.add', 'cli operator.add', 'cli operator.link', 'operator session.begin'])
    assert.ok(actions.includes(action), `${action} in ${actions}`)
})
