import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDeployment } from '../../test/support/server.ts'

test('members can be added, and the sign-in links of the first start and of the CLI work', async (t) => {
  const { serve, json, cli, dataDir } = await createDeployment(t, { embedded: true })
  const server = await serve()
  const linkPath = join(dataDir, 'operator-sign-in-link')
  assert.equal((await stat(linkPath)).mode & 0o777, 0o600)
  const link = await readFile(linkPath, 'utf8')
  const token = /\/console\/sign-in#token=([\w-]{43})\n/.exec(link)![1]!
  const demoKeys = JSON.parse(await readFile(join(dataDir, 'demo-keys.json'), 'utf8'))
  const output = server.output()
  assert.ok(output.includes('operator-sign-in-link') && output.includes(demoKeys.key_id))
  assert.ok(!output.includes(token), 'logs contain no sign-in link')
  const signIn = (sentToken = token) =>
    fetch(`${server.url}/console/api/sign-in/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.url },
      body: JSON.stringify({ token: sentToken }),
    })
  const firstSignIn = await signIn()
  assert.equal(firstSignIn.status, 200)
  const { data } = (await firstSignIn.json()) as { data: { kind: string; organisations: { org_id: string }[] } }
  assert.equal(data.kind, 'operator')
  assert.equal((await signIn()).status, 401)

  const org = data.organisations[0]!.org_id
  const ashaOptions = ['--org', org, '--email', 'asha@example.com']
  assert.equal((await json('member', 'add', ...ashaOptions, '--role', 'owner', '--name', 'Asha Rao')).name, 'Asha Rao')
  const rejectedChange = await cli('member', 'add', ...ashaOptions, '--role', 'viewer')
  assert.match(rejectedChange.stderr, /only owner/)
  assert.deepEqual(
    (await json('member', 'list', '--org', org)).map((member: any) => [member.email, member.name, member.role]),
    [['asha@example.com', 'Asha Rao', 'owner']],
  )
  const { url } = await json('member', 'link', ...ashaOptions)
  assert.ok(url.startsWith(`${server.url}/console/sign-in#token=`))
  const memberSignIn = await signIn(url.split('#token=')[1])
  assert.deepEqual([memberSignIn.status, ((await memberSignIn.json()) as any).data.kind], [200, 'person'])
  const rejectedLink = await cli('member', 'link', '--org', org, '--email', 'meera@example.com')
  assert.match(rejectedLink.stderr, /meera@example\.com is not a member of ORG_/)
  await json('member', 'add', '--org', org, '--email', 'ravi@example.com', '--role', 'viewer')
  const removed = await cli('member', 'remove', '--org', org, '--email', 'Ravi@example.com')
  assert.equal(removed.stdout, `Removed ravi@example.com from ${org}.\n`)
  assert.equal((await json('member', 'list', '--org', org)).length, 1)
  assert.match((await cli('member', 'remove', ...ashaOptions)).stderr, /only owner/)
  const cookie = firstSignIn.headers.get('set-cookie')!.split(';')[0]!
  const audit = await fetch(`${server.url}/console/api/orgs/${org}/audit`, { headers: { cookie } })
  const { items } = ((await audit.json()) as { data: { items: { who: string; action: string }[] } }).data
  for (const expectedAction of ['member.add', 'member.link', 'member.remove'])
    assert.match(items.find(({ action }) => action === expectedAction)!.who, /^cli:.+@./)
})
