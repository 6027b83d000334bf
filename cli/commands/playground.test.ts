import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AttestryClient } from '../../sdk/index.ts'
import { deploy } from '../../test/support/server.ts'

test('what the playground makes is prepared and readable, and follows the same rules; an approval reaches it', async (t) => {
  const { serve, json, cli } = await deploy(t)
  const server = await serve()
  const { org_id } = await json('org', 'create', '--name', 'Acme Staffing')
  const key = await json('key', 'create', '--org', org_id, '--mode', 'test')
  const client = new AttestryClient({ baseUrl: server.url, keyId: key.key_id, secret: key.secret })
  const call = async (method: string, path: string, body?: object) => {
    const answer = await client.request(method, path, body ? { body } : {})
    return { status: answer.status, data: (answer.body as any).data }
  }
  const make = (noun: string, data: object) =>
    json('playground', noun, '--org', org_id, '--mode', 'test', '--data', JSON.stringify(data))

  const workflow = await make('workflow', { name: 'Site hiring' })
  const { workflow_id } = workflow
  assert.equal(workflow.created_via, 'playground')
  assert.deepEqual((await call('GET', `/workflows/${workflow_id}`)).data, workflow)
  assert.equal((await call('PUT', `/workflows/${workflow_id}`, { name: 'Other' })).status, 403)

  const { request_id } = (await call('POST', '/skill-requests', { name: 'Dhokra casting' })).data
  const skills = [
    { skill_id: 'sk_2001', verify: true },
    { name: 'Dhokra casting', pending: true },
  ]
  const body = { workflow_id, title: 'Electrician', company_name: 'Metro', skills }
  const { mandate_id } = await make('mandate', body)
  assert.equal((await ready(1)).created_via, 'playground')
  assert.equal((await call('PUT', `/mandates/${mandate_id}`, body)).status, 403)

  const { skill_id } = await json('skills', 'approve', request_id, '--sub-skill', 'ss_201')
  assert.deepEqual((await ready(2)).skills[1], { skill_id, verify: false })

  const bad = JSON.stringify({ ...body, title: '', colour: 'red' })
  const refused = await cli('playground', 'mandate', '--org', org_id, '--mode', 'test', '--data', bad)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /title: must not be blank/)
  assert.match(refused.stderr, /colour: is not a known property/)

  async function ready(version: number): Promise<any> {
    for (let tries = 0; tries < 200; tries++) {
      const data = await client.call<any>('GET', `/mandates/${mandate_id}`) // waits where a TEST key may not ask so often
      if (data.status === 'ready' && data.flow_version === version) return data
      await pause(250)
    }
    assert.fail('it was never ready')
  }
})
