import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AttestryClient } from '../../sdk/index.ts'
import { createDeployment } from '../../test/support/server.ts'
import { until } from '../../test/support/until.ts'

test('skill requests can be listed, approved and rejected while a server runs', async (t) => {
  const { serve, json, cli } = await createDeployment(t)
  const server = await serve()
  const org = await json('org', 'create', '--name', 'Acme Staffing')
  const key = await json('key', 'create', '--org', org.org_id, '--mode', 'live')
  const client = new AttestryClient({ baseUrl: server.url, keyId: key.key_id, secret: key.secret })
  const requestSkill = async (body: object) => (await client.request('POST', '/skill-requests', { body })).body as any

  assert.match((await cli('skills', 'requests')).stdout, /No pending skill requests/)
  const toApprove = (await requestSkill({ name: 'Dhokra casting', context: 'Brass figures,\nlost wax' })).data
  const toReject = (await requestSkill({ name: 'Being nice' })).data
  const listedRequests = await json('skills', 'requests')
  assert.deepEqual(
    listedRequests.map((row: any) => [row.request_id, row.name, row.status, row.skill_id, row.org_id, row.mode]),
    [
      [toApprove.request_id, 'Dhokra casting', 'pending', null, org.org_id, 'live'],
      [toReject.request_id, 'Being nice', 'pending', null, org.org_id, 'live'],
    ],
  )
  assert.match((await cli('skills', 'requests')).stdout, /Dhokra casting +pending .*Brass figures, lost wax/)

  const malformedId = await cli('skills', 'approve', toApprove.request_id, '--sub-skill', '201')
  assert.notEqual(malformedId.code, 0)
  assert.match(malformedId.stderr, /Expected a sub-skill ID such as ss_201/)
  const unknownSubSkill = await cli('skills', 'approve', toApprove.request_id, '--sub-skill', 'ss_99999')
  assert.equal(unknownSubSkill.code, 1)
  assert.match(unknownSubSkill.stderr, /Sub-skill ss_99999 not found/)
  const withoutChoice = await cli('skills', 'approve', toApprove.request_id)
  assert.match(withoutChoice.stderr, /pass either --sub-skill, to add a skill, or --same-as, for an existing one/)

  const approved = await json('skills', 'approve', toApprove.request_id, '--sub-skill', 'ss_201', '--verifiable')
  assert.match(approved.skill_id, /^sk_1\d{6}$/)
  assert.deepEqual([approved.status, approved.resolved], ['approved', [toApprove.request_id]])
  const resolvedRequest = await client.request('GET', `/skill-requests/${toApprove.request_id}`)
  assert.equal((resolvedRequest.body as any).data.skill_id, approved.skill_id)
  // The server loads the new skill without a restart.
  const skill = await until(async () => {
    const response = await client.request<any>('GET', `/skills/${approved.skill_id}`)
    return response.status === 200 && response
  })
  assert.equal(skill.body.data.name, 'Dhokra casting')
  assert.equal(skill.body.data.verifiable, false, 'there are no questions about it')

  const duplicate = (await requestSkill({ name: 'Electrician' })).data
  assert.match((await cli('skills', 'requests')).stdout, /Electrician +pending +same as sk_2001 House wiring\?/)
  const aliasApproval = await cli('skills', 'approve', duplicate.request_id, '--sub-skill', 'ss_201')
  assert.match(
    aliasApproval.stdout,
    /This name is also an alias of House wiring \(sk_2001\); searches find both skills\./,
  )

  const sameRequest = (await requestSkill({ name: 'Wiring of houses' })).data
  const sameApproval = await cli('skills', 'approve', sameRequest.request_id, '--same-as', 'sk_2001')
  assert.match(sameApproval.stdout, /the request means House wiring \(sk_2001\)\./)

  const withDescription = await cli('skills', 'approve', 'SR_1', '--same-as', 'sk_2001', '--verifiable')
  assert.match(withDescription.stderr, /--verifiable and --description describe a new skill/)
  const rejected = await cli('skills', 'reject', toReject.request_id, '--reason', 'Not a skill')
  assert.equal(rejected.code, 0, rejected.stderr)
  for (const command of [['reject'], ['approve', '--sub-skill', 'ss_201']]) {
    const secondDecision = await cli('skills', command[0]!, toReject.request_id, ...command.slice(1))
    assert.equal(secondDecision.code, 1)
    assert.match(secondDecision.stderr, /has already been decided: rejected/)
  }
  assert.match((await cli('skills', 'reject', 'SR_UNKNOWN')).stderr, /Skill request SR_UNKNOWN not found/)
  assert.deepEqual(await json('skills', 'requests'), [])
  assert.equal((await json('skills', 'requests', '--status', 'all')).length, 4)
  const [rejectedRequest] = await json('skills', 'requests', '--status', 'rejected')
  assert.deepEqual([rejectedRequest.request_id, rejectedRequest.rejection_reason], [toReject.request_id, 'Not a skill'])
})

test('a skill can be merged into another one while a server runs, and the merge can be undone', async (t) => {
  const { serve, json, cli } = await createDeployment(t)
  const server = await serve()
  const org = await json('org', 'create', '--name', 'Acme Staffing')
  const key = await json('key', 'create', '--org', org.org_id, '--mode', 'live')
  const client = new AttestryClient({ baseUrl: server.url, keyId: key.key_id, secret: key.secret })
  const meaningOf = async (id: string) => (await client.request<any>('GET', `/skills/${id}`)).body.data.skill_id

  assert.match((await cli('skills', 'merge', 'sk_1002')).stderr, /required option '--into <skill>'/)
  assert.match(
    (await cli('skills', 'merge', 'sk_1002', '--into', '1001')).stderr,
    /Expected a skill ID such as sk_1001/,
  )
  assert.match((await cli('skills', 'merge', 'sk_1002', '--into', 'sk_1002')).stderr, /cannot be merged into itself/)
  const effects = await json('skills', 'merge', 'sk_1002', '--into', 'sk_1001', '--dry-run')
  assert.deepEqual([effects.merged, effects.into.name, effects.mandates], [false, 'Bricklaying', 0])
  assert.equal(await meaningOf('sk_1002'), 'sk_1002')

  const merged = await cli('skills', 'merge', 'sk_1002', '--into', 'sk_1001')
  assert.match(merged.stdout, /Merged .* \(sk_1002\) into Bricklaying \(sk_1001\)\./)
  assert.match(merged.stdout, /attestry skills undo-merge sk_1002/)
  // The server loads the change without a restart.
  await until(async () => (await meaningOf('sk_1002')) === 'sk_1001')
  const again = await cli('skills', 'merge', 'sk_1002', '--into', 'sk_1003')
  assert.equal(again.code, 1)
  assert.match(again.stderr, /sk_1002 has already been merged into sk_1001/)
  assert.match((await cli('skills', 'undo-merge', 'sk_1002')).stdout, /is a skill of its own again/)
  await until(async () => (await meaningOf('sk_1002')) === 'sk_1002')
})
