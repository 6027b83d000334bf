import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { signInMember } from '../../../test/support/console.ts'

test('owners save, import, export and remove texts; viewers only see them, and other organisations and modes do not', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const other = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const viewer = await signInMember(app, orgId, 'viewer')
  const stranger = await signInMember(app, other.orgId, 'owner')
  const path = `/orgs/${orgId}/live/templates`
  const invitation = `${path}/sms/invitation/en`
  const text = 'Acme Staffing has a few questions about the job of {title}. Answer here: {link}'

  assert.equal((await viewer.put(invitation, { text })).status, 403)
  const rejected = await owner.put(invitation, { text: `${text} Reply YES to {name}` })
  assert.equal(rejected.status, 400)
  assert.match(rejected.body.error.message, /text: asks for a reply/)
  assert.equal((await owner.put(invitation, { text })).body.data.items[0].status, 'draft')
  assert.equal((await owner.put(invitation, { text, status: 'approved' })).status, 400, 'an approved SMS has an ID')
  const { content } = (await viewer.get(`${path}/export/sms`)).body.data
  assert.match(content, /attestry_invitation_en,SMS,Service Explicit,,Text,.*\{#alphanumeric#\}.*\{#url#\}/)
  const csv = 'Template Name,Template ID\nattestry_invitation_en,1107000000000000001\n'
  assert.equal((await viewer.post(`${path}/import`, { csv })).status, 403)
  assert.equal((await owner.post(`${path}/import`, { csv: 'Name\nx\n' })).status, 400)
  assert.equal((await owner.post(`${path}/import`, { csv })).body.data.items[0].status, 'approved')

  const [stored] = (await viewer.get(path)).body.data.items
  assert.deepEqual([stored.registry_id, stored.text], ['1107000000000000001', text])
  assert.equal((await stranger.get(path)).status, 404)
  assert.deepEqual((await stranger.get(path.replace(orgId, other.orgId))).body.data.items, [])
  assert.deepEqual((await owner.get(path.replace('/live/', '/test/'))).body.data.items, [])
  assert.equal((await owner.delete(invitation.replace('/live/', '/test/'))).status, 404)
  assert.equal((await viewer.delete(invitation)).status, 403)
  assert.deepEqual((await owner.delete(invitation)).body.data.items, [])
})
