import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { queueEmail } from '../../server/mail/mail.ts'
import { MINUTE } from '../../server/platform/clock.ts'
import { startApp } from '../support/app.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { signIn, signInMember } from '../support/console.ts'
import { aCandidate, createCampaignPartner, createPartner } from '../support/partners.ts'
import { verificationCalls } from '../support/verification.ts'

const MIN_ITEMS = 3

type Get = (path: string) => Promise<{ status: number; body: any }>

/** Fills every list with at least three rows, which have the same times as far as possible. */
const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const partner = await createCampaignPartner(app)
  const { orgId } = partner
  // Another organisation and mode, whose rows must not be in the lists.
  const strangers = [await createCampaignPartner(app), await createCampaignPartner(app, { mode: 'live', orgId })]
  const numbers = [1, 2, 3, 4]
  let campaignId = ''
  for (const each of [...strangers, partner]) {
    const { mandate_id } = await each.createMandate()
    for (const number of numbers) await each.createMandate({}, { title: `Job ${number}` })
    const { campaign } = await each.createCampaign(
      mandate_id,
      numbers.map((number) => aCandidate(number)),
    )
    campaignId = campaign.campaign_id
    for (const number of numbers) await each.createCampaign(mandate_id, [aCandidate(10 + number)])
    for (const number of numbers) {
      await each.post('/webhooks', { url: `https://203.0.113.${number}/hook` })
      clock.advance(MINUTE) // for the rate limits
      await each.post('/skill-requests', { name: `Kite ${'ABCD'[number]} sewing` })
    }
    await context.events.flush(each.scope)
  }
  const testKey = await app.fixtures.createSessionKey(orgId, 'test')
  const calls = verificationCalls(app, orgId, testKey, 'test')
  for (const number of numbers)
    await calls.openSession({ externalStudentId: `stu-${number}`, email: `s${number}@example.com` })
  const starts_at = new Date(clock.now()).toISOString()
  for (const number of numbers) await partner.post('/test-clocks', { name: `Clock ${number}`, starts_at })
  for (const number of numbers)
    await context.db.transaction((tx) =>
      queueEmail(tx, context, {
        kind: number % 2 === 0 ? 'notice' : 'digest',
        to: { address: `a${number}@example.com` },
        scope: { orgId, mode: number < 4 ? 'live' : 'test' },
        subject: 'News',
        text: 'Hello',
        html: '<p>Hello</p>',
      }),
    )
  const owner = await signInMember(app, orgId, 'owner')
  for (const _ of numbers) await signInMember(app, orgId, 'viewer', `viewer-${randomUUID()}@example.com`)
  for (const _ of numbers) await owner.put(`/orgs/${orgId}/privacy`, { link_days: 7 })
  const operator = await signIn(app)
  for (const number of numbers) await operator.post('/operator/suppressions', { email: `gone${number}@example.com` })
  return { app, partner, campaignId, owner, operator }
})

/** Reads a list in pages of one item, and compares it with the list in one page. */
async function expectSamePages(advance: () => void, get: Get, path: string): Promise<void> {
  const separator = path.includes('?') ? '&' : '?'
  const read = async (query: string) => {
    advance()
    const { status, body } = await get(`${path}${separator}${query}`)
    assert.equal(status, 200, `${path}${separator}${query}: ${JSON.stringify(body)}`)
    return body.data as { items: unknown[]; next_cursor: string | null }
  }
  const { items, next_cursor } = await read('limit=100')
  assert.ok(items.length >= MIN_ITEMS, `${path} has ${items.length} items`)
  assert.equal(next_cursor, null, path)
  const readItems: unknown[] = []
  let cursor: string | null = null
  do {
    const page = await read(`limit=1${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
    assert.equal(page.items.length, 1, `${path}: a page of one item`)
    readItems.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null && readItems.length <= items.length)
  assert.deepEqual(readItems, items, path)
}

test('the lists of the partner API have the same items in pages of any size', async () => {
  const { app, partner, campaignId } = await setUp()
  for (const path of [
    '/workflows',
    '/mandates',
    '/campaigns',
    `/campaigns/${campaignId}/candidates`,
    '/results',
    `/results?campaign_id=${campaignId}`,
    '/credits/entries',
    '/webhooks',
    '/events',
    '/events?acknowledged=false',
    '/skill-requests',
    '/test-clocks',
  ])
    await expectSamePages(() => app.clock.advance(MINUTE), partner.get, path)
})

test('the lists of the console have the same items in pages of any size', async () => {
  const { app, partner, owner } = await setUp()
  const base = `/orgs/${partner.orgId}`
  for (const path of [
    `${base}/members`,
    `${base}/audit`,
    `${base}/test/lists/campaigns`,
    `${base}/test/lists/campaigns?sort=oldest`,
    `${base}/test/lists/mandates`,
    `${base}/test/lists/workflows`,
    `${base}/test/lists/events`,
    `${base}/test/recruiter-results`,
    `${base}/test/recruiter-results?sort=enrolled_first`,
    `${base}/test/phone`,
    `${base}/test/verifications`,
    `${base}/test/results`,
    `${base}/test/credits/entries`,
  ])
    await expectSamePages(() => app.clock.advance(1000), owner.get, path)
})

test('the lists of operators have the same items in pages of any size', async () => {
  const { app, operator } = await setUp()
  await createPartner(app)
  await createPartner(app)
  for (const path of [
    '/operator/orgs',
    '/operator/skill-requests',
    '/operator/mails',
    '/operator/jobs?state=waiting',
    '/operator/suppressions',
    '/operator/audit',
    '/operator/catalogue/skills?q=brick',
  ])
    await expectSamePages(() => app.clock.advance(1000), operator.get, path)
})

/** Compares a list with a filter with the items of the whole list that match. Neither all nor none of them may match. */
async function expectFiltered(get: Get, path: string, query: string, matches: (item: any) => boolean): Promise<void> {
  const read = async (parameters: string) => {
    const { status, body } = await get(`${path}?limit=100${parameters}`)
    assert.equal(status, 200, `${path} ${parameters}: ${JSON.stringify(body)}`)
    return body.data as { items: unknown[]; total?: number }
  }
  const [all, filtered] = [await read(''), await read(`&${query}`)]
  assert.deepEqual(filtered.items, all.items.filter(matches), `${path}?${query}`)
  assert.ok(filtered.items.length > 0 && filtered.items.length < all.items.length, `${path}?${query}`)
  if ('total' in filtered) assert.equal(filtered.total, filtered.items.length, `${path}?${query}`)
}

test('a filter of a list returns the items that match, and counts only them', async () => {
  const { app, partner, campaignId, owner, operator } = await setUp()
  const base = `/orgs/${partner.orgId}/test`
  const [mandate] = (await partner.get('/mandates')).body.data.items
  await partner.post(`/campaigns/${campaignId}/pause`, {})
  await app.as(partner.key).delete(`/mandates/${mandate.mandate_id}`)
  await app.as(partner.key).delete(`/workflows/${mandate.workflow_id}`)
  const [webhook] = (await partner.get('/webhooks')).body.data.items
  await partner.post(`/webhooks/${webhook.webhook_id}/test`)
  await app.context.events.flush(partner.scope)
  app.clock.advance(MINUTE)
  // A filter by time leaves out the items of that very moment.
  const [{ created_at: firstTime }] = (await partner.get('/events?limit=1')).body.data.items
  const cases: [Get, string, string, (item: any) => boolean][] = [
    [partner.get, '/mandates', 'status=archived', ({ status }) => status === 'archived'],
    [
      partner.get,
      '/mandates',
      `workflow_id=${mandate.workflow_id}`,
      (each) => each.workflow_id === mandate.workflow_id,
    ],
    [partner.get, '/results', `campaign_id=${campaignId}`, ({ campaign_id }) => campaign_id === campaignId],
    [partner.get, '/events', 'types=mandate.ready', ({ type }) => type === 'mandate.ready'],
    [partner.get, '/events', `created_after=${firstTime}`, ({ created_at }) => created_at > firstTime],
    [owner.get, `${base}/lists/campaigns`, 'status=paused', ({ status }) => status === 'paused'],
    [owner.get, `${base}/lists/mandates`, 'status=archived', ({ status }) => status === 'archived'],
    [owner.get, `${base}/lists/workflows`, 'status=archived', ({ status }) => status === 'archived'],
    [owner.get, `${base}/lists/events`, 'type=mandate.ready', ({ type }) => type === 'mandate.ready'],
    [owner.get, `${base}/phone`, `campaign_id=${campaignId}`, ({ campaign_id }) => campaign_id === campaignId],
    [owner.get, `${base}/recruiter-results`, `campaign_id=${campaignId}`, (each) => each.campaign_id === campaignId],
    [operator.get, '/operator/mails', 'kind=notice', ({ kind }) => kind === 'notice'],
    [operator.get, '/operator/mails', 'status=queued', ({ status }) => status === 'queued'],
    [operator.get, '/operator/orgs', `q=${partner.orgId}`, ({ org_id }) => org_id === partner.orgId],
  ]
  for (const [get, path, query, matches] of cases) await expectFiltered(get, path, query, matches)
})
