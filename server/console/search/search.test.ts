import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { signInMember } from '../../../test/support/console.ts'
import { createCampaignPartner } from '../../../test/support/partners.ts'

test('workflows are found by name, archived ones last, and those of other organisations not at all', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const create = async () =>
    (await partner.post('/workflows', { name: 'Site hiring', channels: ['sms'] })).body.data.workflow_id as string
  const [first, archived, newest] = [await create(), await create(), await create()]
  assert.equal((await partner.remove(`/workflows/${archived}`)).status, 200)
  const last = await create()
  assert.equal((await partner.remove(`/workflows/${last}`)).status, 200)
  const search = async (orgId: string) => {
    const viewer = await signInMember(app, orgId, 'viewer')
    const { status, body } = await viewer.get(`/orgs/${orgId}/test/search?q=site`)
    assert.equal(status, 200, JSON.stringify(body))
    return body.data.items.map(({ kind, id }: any) => [kind, id])
  }
  assert.deepEqual(
    await search(partner.orgId),
    [newest, first, last, archived].map((id) => ['workflow', id]),
  )
  const other = await createCampaignPartner(app)
  assert.deepEqual(await search(other.orgId), [])
})
