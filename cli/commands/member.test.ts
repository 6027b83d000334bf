import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deploy } from '../../test/support/server.ts'

test('members can be added, and the sign-in link of the first start works once', async (t) => {
  const { serve, json, cli } = await deploy(t, { embedded: true })
  const server = await serve()
  const token = /\/console\/sign-in#token=([\w-]{43})\n/.exec(server.output())![1]!
  const signIn = () =>
    fetch(`${server.url}/console/api/sign-in/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.url },
      body: JSON.stringify({ token }),
    })
  const first = await signIn()
  assert.equal(first.status, 200)
  const { data } = (await first.json()) as { data: { kind: string; organisations: { org_id: string }[] } }
  assert.equal(data.kind, 'operator')
  assert.equal((await signIn()).status, 401)

  const org = data.organisations[0]!.org_id
  const asha = ['--org', org, '--email', 'asha@example.com']
  assert.equal((await json('member', 'add', ...asha, '--role', 'owner')).role, 'owner')
  const rejected = await cli('member', 'add', ...asha, '--role', 'viewer')
  assert.match(rejected.stderr, /only owner/)
  assert.deepEqual(
    (await json('member', 'list', '--org', org)).map((member: any) => [member.email, member.role]),
    [['asha@example.com', 'owner']],
  )
  const cookie = first.headers.get('set-cookie')!.split(';')[0]!
  const audit = await fetch(`${server.url}/console/api/orgs/${org}/audit`, { headers: { cookie } })
  const { items } = ((await audit.json()) as { data: { items: { who: string; action: string }[] } }).data
  assert.equal(items[0]!.action, 'member.add')
  assert.match(items[0]!.who, /^cli:./)
})
