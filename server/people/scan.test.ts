import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { createEmptyDatabase, createTemporaryFolder } from '../../test/support/backups.ts'
import { inviteCandidates } from '../../test/support/candidate.ts'
import { signIn } from '../../test/support/console.ts'
import { dumpTables } from '../../test/support/dump-tables.ts'
import { findTexts } from '../../test/support/find-texts.ts'
import { aCandidate, createCampaignPartner } from '../../test/support/partners.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { scanDatabaseFiles } from '../../test/support/scan-files.ts'
import { until } from '../../test/support/until.ts'
import { BRICKLAYING, expectOk, verificationCalls } from '../../test/support/verification.ts'
import { MINUTE } from '../platform/clock.ts'
import { startDelivery } from '../webhooks/delivery/engine.ts'

/** Run it with PEOPLE=1000 before a release; it takes some minutes. */
const PEOPLE = Number(process.env.PEOPLE ?? 200)
const ERASED_PEOPLE = Math.ceil(PEOPLE / 10)
/** Every tenth person answers, and those who are erased. */
const answers = (index: number) => index < ERASED_PEOPLE || index % 10 === 0
/** The most that a TEST key may enrol in one call. */
const CANDIDATES_PER_CAMPAIGN = 100
const ERASURE = { basis: 'GDPR Article 17', requested_by: 'the scan test' }
/** A part of the name, phone number, email address and words of each person, which occurs nowhere else. */
const MARKERS = ['Zarquonperson', '9197531', 'zarquon.nr', 'zarquonwork', 'Zarquonreviewer', 'zarquoncomment']

const people = Array.from({ length: PEOPLE }, (_, index) => ({
  name: `Zarquonperson "Nr" ${index}x`,
  phone: `+9197531${String(10_000 + index)}`,
  email: `zarquon.nr${index}x@example.com`,
  words: `My zarquonwork number ${index}x in Kolhapur`,
}))

test('no file, log, backup, list or webhook contains what identifies an erased person, and all counts stay', {
  timeout: 600_000 + PEOPLE * 1000,
}, async (t) => {
  const app = await startApp(t)
  const { config } = app.context
  const partner = await createCampaignPartner(app, { credits: PEOPLE + 10, peoplePerDay: PEOPLE + 10 })
  const livePartner = app.as(await app.fixtures.createPartnerKey(partner.orgId))
  const receiver = await startReceiver(t)
  const { mandate_id } = await partner.createMandate({ languages: ['en'] }, {
    methods: ['data_enrichment', 'interest_collection'],
    enrichment_questions: [{ key: 'work', type: 'voice', text: 'Describe your work.' }],
  } as never)
  const { body: created } = await partner.post('/webhooks', { url: receiver.url, event_types: ['result.completed'] })
  assert.ok(created.data, JSON.stringify(created))
  const { webhook_id } = created.data
  const input = people.map(({ name, phone, email }, index) =>
    aCandidate(index, { name, phone, email, metadata: { note: `${name} note` } }),
  )
  const invited: Awaited<ReturnType<typeof inviteCandidates>> = []
  for (let start = 0; start < PEOPLE; start += CANDIDATES_PER_CAMPAIGN)
    invited.push(
      ...(await inviteCandidates(app, partner, mandate_id, input.slice(start, start + CANDIDATES_PER_CAMPAIGN))),
    )
  for (const [index, { page }] of invited.entries()) {
    if (!answers(index)) continue
    if (index % 50 === 0) app.clock.advance(MINUTE) // the rate limit of the address of the pages
    await page.view()
    await page.reply({ value: 'yes' })
    await page.reply({ text: people[index]!.words })
    await page.reply({ value: 'yes' })
  }
  const student = await reviewStudent()
  const operator = await signIn(app)
  const commands = await createEmptyDatabase(t, config.masterKey!.toString('base64'))
  const target = await createEmptyDatabase(t, commands.env.MASTER_KEY)
  Object.assign(commands.env, { DATABASE_URL: config.databaseUrl!, DATABASE_OWNER_URL: config.databaseOwnerUrl! })
  const folder = await createTemporaryFolder(t)
  const { name: backupName } = await commands.json('backup', '--to', folder)
  const totalsBefore = await readTotals()
  const eventsBefore = await listEvents()
  assert.ok(JSON.stringify(eventsBefore).includes('Zarquonperson'))

  for (const { phone } of people.slice(0, ERASED_PEOPLE)) {
    const [person] = (await partner.get(`/people?phone=${encodeURIComponent(phone)}`)).body.data.items
    assert.equal((await partner.post(`/people/${person.person_id}/erase`, ERASURE)).status, 200)
  }
  for (const email of ['zarquon.nrstudent@example.com']) {
    const [person] = (await livePartner.get(`/people?email=${encodeURIComponent(email)}`)).body.data.items
    assert.equal((await livePartner.post(`/people/${person.person_id}/erase`, ERASURE)).status, 200)
  }

  // Nothing is stored in plain text, of whomever, and nothing was logged.
  assert.deepEqual(findTexts(await dumpTables(config.databaseOwnerUrl!), MARKERS), [])
  assert.deepEqual((await scanDatabaseFiles(config.databaseOwnerUrl!, MARKERS)) ?? [], [])
  assert.deepEqual(
    findTexts(
      app.logLines.map((text) => ({ table: 'log', text })),
      MARKERS,
    ),
    [],
  )

  // Counts, credits, analytics and sequences stay.
  assert.deepEqual(await readTotals(), totalsBefore)
  const eventsAfter = await listEvents()
  assert.deepEqual(
    eventsAfter.slice(0, eventsBefore.length).map(({ event_id, sequence, type }) => [event_id, sequence, type]),
    eventsBefore.map(({ event_id, sequence, type }) => [event_id, sequence, type]),
  )

  // Lists, exports, searches, pages, replayed events and webhooks agree on who was erased.
  const results = await readAll('/results')
  const candidates: any[] = []
  for (const { campaign_id } of await listCampaigns())
    candidates.push(...(await readAll(`/campaigns/${campaign_id}/candidates`)))
  const csv = String((await operator.get(`/orgs/${partner.orgId}/test/export/results.csv`)).body)
  await replayWebhooks()
  const webhooks = receiver.received.map(({ text }) => text).join('\n')
  for (const [index, { name, email, words }] of people.entries()) {
    const isErased = index < ERASED_PEOPLE
    const externalId = `ext-${index}`
    const result = results.find(({ candidate }) => candidate.external_candidate_id === externalId)
    const candidate = candidates.find((each) => each.external_candidate_id === externalId)
    assert.equal(result.candidate.name, isErased ? 'erased' : name)
    assert.equal(candidate.name, isErased ? 'erased' : name)
    const quotedName = JSON.stringify(name).slice(1, -1)
    assert.equal(JSON.stringify(eventsAfter).includes(quotedName), !isErased && answers(index), name)
    assert.equal(webhooks.includes(quotedName), !isErased && answers(index), name)
    assert.equal(csv.includes(name.replaceAll('"', '""')), !isErased, name)
    assert.ok(!isErased || !`${JSON.stringify([results, candidates])}${csv}${webhooks}`.includes(words))
    if (index % 10 !== 0 && !isErased) continue
    const found = (await partner.get(`/people?email=${encodeURIComponent(email)}`)).body.data.items
    assert.equal(found.length, isErased ? 0 : 1)
    const page = invited[index]!.page.view()
    if (isErased) await assert.rejects(page, /410|404/)
    else await page
  }
  const session = JSON.stringify(
    (await operator.get(`/orgs/${partner.orgId}/live/verifications/${student.id}`)).body.data,
  )
  assert.ok(!/Zarquonperson|zarquon\.nrstudent|zarquoncomment/.test(session), session)

  // The backup from before the erasures contains nothing in plain text either, and restoring it erases the people again.
  const { stdout } = await commands.run('privacy', 'erasures')
  await commands.json('backup', '--to', folder) // adds the list of erasures
  assert.equal(JSON.parse(stdout).length, ERASED_PEOPLE + 1)
  const { erased_people } = await target.json('restore', join(folder, backupName))
  assert.equal(erased_people, ERASED_PEOPLE + 1)
  assert.deepEqual(findTexts(await dumpTables(target.ownerUrl), MARKERS), [])
  assert.deepEqual((await scanDatabaseFiles(target.ownerUrl, MARKERS)) ?? [], [])
  const restored = await startApp(t, {
    clock: app.clock,
    config: { databaseUrl: target.ownerUrl, masterKey: config.masterKey! },
  })
  const restoredOperator = await signIn(restored)
  const restoredCsv = String((await restoredOperator.get(`/orgs/${partner.orgId}/test/export/results.csv`)).body)
  for (const [index, { name }] of people.entries())
    assert.equal(restoredCsv.includes(name.replaceAll('"', '""')), index >= ERASED_PEOPLE, name)

  /** Has a student reviewed in LIVE mode, with a comment. */
  async function reviewStudent() {
    const calls = verificationCalls(app, partner.orgId, await app.fixtures.createSessionKey(partner.orgId))
    const { session: reviewed, token } = await calls.requestReview({
      student: { name: 'Zarquonperson Student', email: 'zarquon.nrstudent@example.com' },
      reviewer: { name: 'Zarquonreviewer One', email: 'zarquon.nrreviewer@example.com' },
    })
    await expectOk(
      calls.submitReview(reviewed, token, {
        decisions: [{ skillId: BRICKLAYING, endorsed: true, comment: 'A zarquoncomment' }],
      }),
    )
    return reviewed
  }

  async function listCampaigns(): Promise<any[]> {
    return (await partner.get('/campaigns')).body.data.items
  }

  async function readTotals() {
    const { balance } = (await partner.get('/credits')).body.data
    const campaigns = (await listCampaigns()).map(({ updated_at: _, version: __, ...campaign }) => campaign)
    const analytics = (await partner.get('/analytics/overview')).body.data
    return { balance, campaigns, analytics }
  }

  async function readAll(path: string, query = ''): Promise<any[]> {
    const items: any[] = []
    for (let cursor = ''; ; ) {
      const { body } = await partner.get(
        `${path}?limit=100${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      items.push(...body.data.items)
      if (!body.data.next_cursor || body.data.items.length === 0) return items
      cursor = body.data.next_cursor
    }
  }

  function listEvents(): Promise<any[]> {
    return readAll('/events', '&acknowledged=all&types=result.completed')
  }

  async function replayWebhooks() {
    const delivery = startDelivery({ ...app.context, graceMs: 100 })
    t.after(() => delivery.stop())
    const completed = eventsBefore.length
    await receiver.waitFor(completed, 60_000)
    const { status, body } = await partner.post(`/webhooks/${webhook_id}/replay`, {
      event_ids: eventsBefore.slice(0, 50).map(({ event_id }) => event_id),
    })
    assert.equal(status, 202, JSON.stringify(body))
    await until(() => receiver.received.length >= completed + Math.min(50, completed))
  }
})
