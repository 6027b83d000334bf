import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AttestryClient } from '../../sdk/index.ts'
import { createDeployment } from '../../test/support/server.ts'

test('playground workflows and mandates are validated, prepared, read-only for partners, and updated by skill approvals', async (t) => {
  const { serve, json, cli } = await createDeployment(t)
  const server = await serve()
  const { org_id } = await json('org', 'create', '--name', 'Acme Staffing')
  const key = await json('key', 'create', '--org', org_id, '--mode', 'test')
  const client = new AttestryClient({ baseUrl: server.url, keyId: key.key_id, secret: key.secret })
  const call = async (method: string, path: string, body?: object) => {
    const response = await client.request(method, path, body ? { body } : {})
    return { status: response.status, data: (response.body as any).data }
  }
  const createInPlayground = (noun: string, data: object) =>
    json('playground', noun, '--org', org_id, '--mode', 'test', '--data', JSON.stringify(data))

  const workflow = await createInPlayground('workflow', { name: 'Site hiring' })
  const { workflow_id } = workflow
  assert.equal(workflow.created_via, 'playground')
  assert.deepEqual((await call('GET', `/workflows/${workflow_id}`)).data, workflow)
  assert.equal((await call('PUT', `/workflows/${workflow_id}`, { name: 'Other' })).status, 403)

  const { request_id } = (await call('POST', '/skill-requests', { name: 'Dhokra casting' })).data
  const skills = [
    { skill_id: 'sk_2001', verify: true },
    { name: 'Dhokra casting', pending: true },
  ]
  const mandateInput = { workflow_id, title: 'Electrician', company_name: 'Metro', skills }
  const { mandate_id } = await createInPlayground('mandate', mandateInput)
  assert.equal((await waitUntilReady(1)).created_via, 'playground')
  assert.equal((await call('PUT', `/mandates/${mandate_id}`, mandateInput)).status, 403)

  const { skill_id } = await json('skills', 'approve', request_id, '--sub-skill', 'ss_201')
  assert.deepEqual((await waitUntilReady(2)).skills[1], { skill_id, verify: false })

  const invalidInput = JSON.stringify({ ...mandateInput, title: '', colour: 'red' })
  const rejected = await cli('playground', 'mandate', '--org', org_id, '--mode', 'test', '--data', invalidInput)
  assert.equal(rejected.code, 1)
  assert.match(rejected.stderr, /title: must not be blank/)
  assert.match(rejected.stderr, /colour: is not a known property/)

  async function waitUntilReady(version: number): Promise<any> {
    for (let attempt = 0; attempt < 200; attempt++) {
      const mandate = await client.call<any>('GET', `/mandates/${mandate_id}`) // retries if it exceeds the rate limit of a TEST key
      if (mandate.status === 'ready' && mandate.flow_version === version) return mandate
      await pause(250)
    }
    assert.fail('the mandate did not become ready')
  }
})
