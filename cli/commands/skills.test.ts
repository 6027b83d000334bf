import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AttestryClient } from '../../sdk/index.ts'
import { deploy } from '../../test/support/server.ts'

test('what partners ask for is listed, approved and rejected beside a running server', async (t) => {
  const { serve, json, cli } = await deploy(t)
  const server = await serve()
  const org = await json('org', 'create', '--name', 'Acme Staffing')
  const key = await json('key', 'create', '--org', org.org_id, '--mode', 'live')
  const client = new AttestryClient({ baseUrl: server.url, keyId: key.key_id, secret: key.secret })
  const ask = async (body: object) => (await client.request('POST', '/skill-requests', { body })).body as any

  assert.match((await cli('skills', 'requests')).stdout, /No skill request waits/)
  const wanted = (await ask({ name: 'Dhokra casting', context: 'Brass figures,\nlost wax' })).data
  const unwanted = (await ask({ name: 'Being nice' })).data
  const listed = await json('skills', 'requests')
  assert.deepEqual(
    listed.map((row: any) => [row.request_id, row.name, row.status, row.skill_id, row.org_id, row.mode]),
    [
      [wanted.request_id, 'Dhokra casting', 'pending', null, org.org_id, 'live'],
      [unwanted.request_id, 'Being nice', 'pending', null, org.org_id, 'live'],
    ],
  )
  assert.match((await cli('skills', 'requests')).stdout, /Dhokra casting +pending .*Brass figures, lost wax/)

  const malformed = await cli('skills', 'approve', wanted.request_id, '--sub-skill', '201')
  assert.notEqual(malformed.code, 0)
  assert.match(malformed.stderr, /sub-skill, such as ss_201/)
  const nowhere = await cli('skills', 'approve', wanted.request_id, '--sub-skill', 'ss_99999')
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.stderr, /There is no sub-skill ss_99999/)
  assert.notEqual((await cli('skills', 'approve', wanted.request_id)).code, 0, 'a place is needed')

  const approved = await json('skills', 'approve', wanted.request_id, '--sub-skill', 'ss_201', '--verifiable')
  assert.match(approved.skill_id, /^sk_1\d{6}$/)
  assert.deepEqual([approved.status, approved.resolved], ['approved', [wanted.request_id]])
  const known = await client.request('GET', `/skill-requests/${wanted.request_id}`)
  assert.equal((known.body as any).data.skill_id, approved.skill_id)
  let skill: any
  for (let tries = 0; tries < 50 && skill?.status !== 200; tries++) {
    if (tries > 0) await pause(100)
    skill = await client.request('GET', `/skills/${approved.skill_id}`)
  }
  assert.equal(skill.body.data.name, 'Dhokra casting', 'the server has it without a restart')
  assert.equal(skill.body.data.verifiable, true)

  const twin = (await ask({ name: 'Electrician' })).data
  assert.match((await cli('skills', 'requests')).stdout, /Electrician +pending +like sk_2001 House wiring\?/)
  const rival = await cli('skills', 'approve', twin.request_id, '--sub-skill', 'ss_201')
  assert.match(rival.stdout, /It is another name of House wiring \(sk_2001\), too: searches for it find both\./)

  const rejected = await cli('skills', 'reject', unwanted.request_id)
  assert.equal(rejected.code, 0, rejected.stderr)
  for (const command of [['reject'], ['approve', '--sub-skill', 'ss_201']]) {
    const again = await cli('skills', command[0]!, unwanted.request_id, ...command.slice(1))
    assert.equal(again.code, 1)
    assert.match(again.stderr, /is decided already: rejected/)
  }
  assert.match((await cli('skills', 'reject', 'SR_NOBODY')).stderr, /There is no skill request SR_NOBODY/)
  assert.deepEqual(await json('skills', 'requests'), [])
  assert.equal((await json('skills', 'requests', '--status', 'all')).length, 3)
  assert.equal((await json('skills', 'requests', '--status', 'rejected'))[0].request_id, unwanted.request_id)
})
