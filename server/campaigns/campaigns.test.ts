import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { aMandate, prepareMandates, startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { aCandidate, createCampaignPartner, errorPaths } from '../../test/support/partners.ts'
import { archiveMandate } from '../mandates/mandates.ts'
import { DAY, HOUR } from '../platform/clock.ts'

const CAMPAIGN_FIELDS = [
  'campaign_id',
  'created_via',
  'mandate_id',
  'job_id',
  'name',
  'status',
  'counts',
  'flow_version',
  'version',
  'starts_at',
  'created_at',
  'updated_at',
  'completed_at',
]
const UNKNOWN_MANDATE = 'JM_01ARZ3NDEKTSV4RRFFQ69G5FAV'

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { context, clock } = app
  return { app, context, clock }
}

test('campaigns are created, read and listed', async () => {
  const { app, clock } = await setUp()
  const now = new Date(clock.now()).toISOString()
  const { get, createCampaign, createMandate } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate({}, { job_id: 'J-1' })
  const created = await createCampaign(mandate_id, [aCandidate(1), aCandidate(2)], { name: 'Pune, March' })
  assert.deepEqual(Object.keys(created.campaign).sort(), CAMPAIGN_FIELDS.toSorted())
  assert.match(created.campaign.campaign_id, /^CP_[0-9A-HJKMNP-TV-Z]{26}$/)
  assert.deepEqual(
    { ...created.campaign, campaign_id: '', mandate_id: '' },
    {
      campaign_id: '',
      created_via: 'api',
      mandate_id: '',
      job_id: 'J-1',
      name: 'Pune, March',
      status: 'running',
      counts: { candidates: 2, pending: 2, completed: 0, declined: 0, failed: 0 },
      flow_version: 1,
      version: 2,
      starts_at: now,
      created_at: now,
      updated_at: now,
      completed_at: null,
    },
  )
  assert.deepEqual(created.enrolment, {
    accepted: 2,
    duplicates: 0,
    duplicate_rows: [],
    credits_spent: 2,
    credits_left: 998,
  })
  const withoutCandidates = await createCampaign(mandate_id)
  assert.equal(withoutCandidates.enrolment, undefined)
  assert.equal('name' in withoutCandidates.campaign, false)
  const readResponse = await get(`/campaigns/${created.campaign.campaign_id}`)
  assert.deepEqual(readResponse.body.data, created.campaign)
  const firstPage = await get('/campaigns?limit=1')
  assert.deepEqual(firstPage.body.data.items, [withoutCandidates.campaign])
  const secondPage = await get(`/campaigns?limit=1&cursor=${firstPage.body.data.next_cursor}`)
  assert.deepEqual(secondPage.body.data, { items: [created.campaign], next_cursor: null })
  const firstCandidatePage = await get(`/campaigns/${created.campaign.campaign_id}/candidates?limit=1`)
  const [person] = firstCandidatePage.body.data.items
  assert.deepEqual(
    { ...person, candidate_id: '', result_id: '' },
    { candidate_id: '', external_candidate_id: 'ext-2', name: 'Person 2', status: 'pending', result_id: '' },
  )
  const secondCandidatePage = await get(
    `/campaigns/${created.campaign.campaign_id}/candidates?limit=1&cursor=${firstCandidatePage.body.data.next_cursor}`,
  )
  assert.deepEqual(
    [secondCandidatePage.body.data.items[0].external_candidate_id, secondCandidatePage.body.data.next_cursor],
    ['ext-1', null],
  )
  const result = await get(`/results/${person.result_id}`)
  assert.equal(result.body.data.candidate.candidate_id, person.candidate_id)
})

test('campaigns are not visible to other organisations or modes', async () => {
  const { app } = await setUp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const { campaign } = await partner.createCampaign(mandate_id)
  for (const outsider of [
    await createCampaignPartner(app),
    await createCampaignPartner(app, { mode: 'live', orgId: partner.orgId }),
  ]) {
    const path = `/campaigns/${campaign.campaign_id}`
    const responses = [
      await outsider.get(path),
      await outsider.get(`${path}/candidates`),
      await outsider.enrol(campaign.campaign_id, [aCandidate(1)]),
      await outsider.post(`${path}/pause`),
      await outsider.remove(path),
    ]
    assert.deepEqual(
      responses.map(({ status }) => status),
      [404, 404, 404, 404, 404],
    )
    const response = await outsider.post('/campaigns', { mandate_id }, { idempotencyKey: true })
    assert.deepEqual([response.status, errorPaths(response)], [400, ['mandate_id']])
  }
  assert.equal((await partner.get('/campaigns/CP_x')).status, 400)
})

test('invalid requests are rejected in the documented order', async () => {
  const { app, context, clock } = await setUp()
  const { post, createMandate, createCampaign, scope } = await createCampaignPartner(app, { credits: 1 })
  const { mandate_id } = await createMandate()
  const postCampaign = (body: object, key: string | true = true) => post('/campaigns', body, { idempotencyKey: key })
  const withoutKey = await post('/campaigns', { mandate_id })
  assert.deepEqual([withoutKey.status, withoutKey.body.error.code], [400, 'IDEMPOTENCY_KEY_REQUIRED'])
  const withInvalidFields = await postCampaign({
    mandate_id: 'x',
    name: ' ',
    owner: 1,
    candidates: [{ name: 'A', metadata: { a: 1 } }],
  })
  assert.deepEqual(errorPaths(withInvalidFields).sort(), [
    'candidates[0].external_candidate_id',
    'candidates[0].metadata.a',
    'mandate_id',
    'name',
    'owner',
  ])
  assert.deepEqual(errorPaths(await postCampaign({ mandate_id, starts_at: 'tomorrow' })), ['starts_at'])
  const tooLateStart = new Date(clock.now() + 30 * DAY + 1000).toISOString()
  assert.deepEqual(errorPaths(await postCampaign({ mandate_id, starts_at: tooLateStart })), ['starts_at'])
  const tooManyCandidates = Array.from({ length: 101 }, (_, index) => aCandidate(index))
  assert.deepEqual(errorPaths(await postCampaign({ mandate_id: UNKNOWN_MANDATE, candidates: tooManyCandidates })), [
    'candidates',
  ])
  assert.deepEqual(errorPaths(await postCampaign({ mandate_id, candidates: [] })), ['candidates'])
  assert.deepEqual(
    errorPaths(await postCampaign({ mandate_id: UNKNOWN_MANDATE, candidates: [{ ...aCandidate(1), language: 'ta' }] })),
    ['mandate_id'],
  )
  await sql`update mandates set status = 'preparing' where mandate_id = ${mandate_id}`.execute(context.db.queries)
  const withUnreadyMandate = await postCampaign({ mandate_id, candidates: [{ ...aCandidate(1), language: 'ta' }] })
  assert.deepEqual([withUnreadyMandate.status, withUnreadyMandate.body.error.code], [409, 'CONFLICT'])
  assert.equal(withUnreadyMandate.headers.get('retry-after'), '2') // so that a retry with the same key can succeed
  await sql`update mandates set status = 'ready' where mandate_id = ${mandate_id}`.execute(context.db.queries)
  const withInvalidRows = await postCampaign({
    mandate_id,
    candidates: [aCandidate(1), { ...aCandidate(2), language: 'ta' }, { external_candidate_id: 'e', name: 'E' }],
  })
  assert.deepEqual(
    [withInvalidRows.status, errorPaths(withInvalidRows)],
    [400, ['candidates[1].language', 'candidates[2].phone']],
  )
  const withTooFewCredits = await postCampaign({ mandate_id, candidates: [aCandidate(1), aCandidate(2)] }, 'poor')
  assert.deepEqual([withTooFewCredits.status, withTooFewCredits.body.error.code], [402, 'INSUFFICIENT_CREDITS'])
  assert.match(withTooFewCredits.body.error.details[0].message, /2 credits.*1/)
  const { rows: storedCounts } = await sql<{ campaigns: number; people: number }>`
      select (select count(*) from campaigns where org_id = ${scope.orgId})::int as campaigns,
        (select count(*) from candidates where org_id = ${scope.orgId})::int as people`.execute(context.db.queries)
  assert.deepEqual(storedCounts, [{ campaigns: 0, people: 0 }])
  const { campaign: created } = await createCampaign(mandate_id, [aCandidate(1)])
  assert.equal(created.counts.candidates, 1)
})

test('all errors are reported together, and a request with an invalid body does not consume its idempotency key', async () => {
  const { app } = await setUp()
  const { post, enrol, createMandate, createCampaign } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  const candidates = [
    { ...aCandidate(0), phone: 'x' },
    { external_candidate_id: 'e', name: 'E' },
    { ...aCandidate(2), language: 'ta' },
    { ...aCandidate(3), language: 'xx' },
    null,
  ]
  const candidateErrorPaths = [
    'candidates[0].phone',
    'candidates[1].phone',
    'candidates[2].language',
    'candidates[3].language',
    'candidates[4]',
    'candidates[4].phone',
  ]
  const body = { mandate_id, starts_at: '2026-02-30T10:00:00Z', candidates }
  const rejectedResponse = await post('/campaigns', body, { idempotencyKey: 'shape' })
  assert.deepEqual(errorPaths(rejectedResponse).sort(), [...candidateErrorPaths, 'starts_at'])
  const tooManyCandidates = Array.from({ length: 101 }, (_, index) => aCandidate(index, { phone: 'x' }))
  const secondRejected = await post(
    '/campaigns',
    { mandate_id, candidates: tooManyCandidates },
    { idempotencyKey: 'shape' },
  )
  assert.equal(errorPaths(secondRejected).length, 102)
  // Neither error response was stored: the key can be used for the corrected request.
  const { status } = await post('/campaigns', { mandate_id }, { idempotencyKey: 'shape' })
  assert.equal(status, 202)
  const { campaign: created } = await createCampaign(mandate_id)
  assert.deepEqual(errorPaths(await enrol(created.campaign_id, candidates as object[])).sort(), candidateErrorPaths)
  const outsider = await createCampaignPartner(app)
  assert.deepEqual(errorPaths(await outsider.enrol(created.campaign_id, candidates as object[])).sort(), [
    'candidates[0].phone',
    'candidates[3].language',
    'candidates[4]',
  ])
})

test('each of a thousand invalid candidates is reported', async () => {
  const { app } = await setUp()
  const { post, createMandate } = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await createMandate()
  const candidates = Array.from({ length: 1000 }, () => ({ phone: 'x', age: 1 }))
  const rejectedResponse = await post('/campaigns', { mandate_id, candidates }, { idempotencyKey: true })
  const reportedRows = new Set(errorPaths(rejectedResponse).map((path) => path.split('.')[0]))
  assert.deepEqual([rejectedResponse.status, reportedRows.size], [400, 1000])
  const invalidCandidate = {
    external_candidate_id: '!',
    name: '',
    phone: 'x',
    email: 'y',
    a: 1,
    b: 2,
    c: 3,
    d: 4,
    metadata: 5,
  }
  const invalidBody = { mandate_id, candidates: Array.from({ length: 1000 }, () => invalidCandidate) }
  const response = await post('/campaigns', invalidBody, { idempotencyKey: true })
  assert.equal(new Set(errorPaths(response).map((path) => path.split('.')[0])).size, 1000, 'with several errors each')
})

test('each field of a candidate is validated', async () => {
  const { app } = await setUp()
  const { post, createMandate } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  const errorPathFor = async (overrides: object) => {
    const body = { mandate_id, candidates: [{ ...aCandidate(1), ...overrides }] }
    const response = await post('/campaigns', body, { idempotencyKey: true })
    return response.status === 202 ? 'valid' : errorPaths(response).at(-1)
  }
  const emojis = (count: number) => '😀'.repeat(count)
  const metadataPairs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))
  for (const [overrides, expected] of [
    [{ phone: '+919876543210' }, 'valid'],
    [{ phone: '+67720000' }, 'valid'],
    [{ phone: '+1234567' }, 'candidates[0].phone'],
    [{ phone: '+123456789012345' }, 'candidates[0].phone'],
    [{ phone: '+911111111111' }, 'candidates[0].phone'],
    [{ phone: '+919990000011' }, 'valid'],
    [{ phone: '+1234567890123456' }, 'candidates[0].phone'],
    [{ phone: '919876543210' }, 'candidates[0].phone'],
    [{ phone: '+0919876543' }, 'candidates[0].phone'],
    [{ phone: '+91 98765 43210' }, 'candidates[0].phone'],
    [{ phone: '+91-98765-43210' }, 'candidates[0].phone'],
    [{ phone: '00919876543210' }, 'candidates[0].phone'],
    [{ phone: '+9109876543210' }, 'candidates[0].phone'],
    [{ phone: '+4407946000000' }, 'candidates[0].phone'],
    [{ phone: '+390612345678' }, 'valid'], // in Italy, the 0 is part of the number
    [{ email: 'asha@example.com' }, 'valid'],
    [{ email: 'asha@example' }, 'valid'],
    [{ email: 'asha example.com' }, 'candidates[0].email'],
    [{ email: 'a@b@c' }, 'candidates[0].email'],
    [{ email: 'a\u0001b@example.com' }, 'candidates[0].email'],
    [{ email: 'a\u202eb@example.com' }, 'candidates[0].email'],
    [{ name: emojis(200) }, 'valid'],
    [{ name: emojis(201) }, 'candidates[0].name'],
    [{ name: '  ' }, 'candidates[0].name'],
    [{ external_candidate_id: 'a'.repeat(129) }, 'candidates[0].external_candidate_id'],
    [{ external_candidate_id: 'a b' }, 'candidates[0].external_candidate_id'],
    [{ language: 'xx' }, 'candidates[0].language'],
    [{ metadata: metadataPairs(20) }, 'valid'],
    [{ metadata: metadataPairs(21) }, 'candidates[0].metadata'],
    [{ metadata: { [emojis(40)]: emojis(500) } }, 'valid'],
    [{ metadata: { [emojis(41)]: 'v' } }, 'candidates[0].metadata'],
    [{ metadata: { a: emojis(501) } }, 'candidates[0].metadata.a'],
    [{ age: 3 }, 'candidates[0].age'],
  ] as const)
    assert.equal(await errorPathFor(overrides), expected, JSON.stringify(overrides).slice(0, 80))
})

test('phone numbers that cannot be dialled or have another spelling are rejected with an explanation', async () => {
  const { app } = await setUp()
  const { post, createMandate } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  const phones = ['+919876543210', '+9109876543210', '0091 98765 43210', '+911111111111', '+99912345678']
  const candidates = phones.map((phone, index) => ({ ...aCandidate(index), phone }))
  const rejectedResponse = await post('/campaigns', { mandate_id, candidates }, { idempotencyKey: true })
  assert.equal(rejectedResponse.status, 400)
  const messagesByPath = Object.fromEntries(
    rejectedResponse.body.error.details.map(({ path, message }: any) => [path, message]),
  )
  assert.deepEqual(
    Object.keys(messagesByPath).sort(),
    [1, 2, 3, 4].map((index) => `candidates[${index}].phone`),
  )
  assert.match(messagesByPath['candidates[1].phone'], /without the 0 after \+91.*: \+919876543210$/)
  assert.match(messagesByPath['candidates[2].phone'], /E\.164 format: a \+ and 7 to 15 digits/)
  assert.match(
    messagesByPath['candidates[3].phone'],
    /can be dialled; \+911111111111 is not .* \+91\. Check the digits/,
  )
  assert.match(messagesByPath['candidates[4].phone'], /must begin with \+ and a country code/)
})

test('candidates without a phone number are not duplicates of each other', async () => {
  const { app } = await setUp()
  const { createMandate, createCampaign, enrol } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate({ channels: ['email'] })
  const byEmail = (name: string) => ({ external_candidate_id: name, name, email: `${name}@example.com` })
  const { campaign } = await createCampaign(mandate_id, [byEmail('asha')])
  const { body } = await enrol(campaign.campaign_id, [byEmail('asha'), byEmail('bela'), byEmail('chand')])
  const { accepted, duplicate_rows } = body.data.enrolment
  assert.equal(accepted, 2)
  assert.deepEqual(
    duplicate_rows.map(({ index, reason }: { index: number; reason: string }) => [index, reason]),
    [[0, 'external_candidate_id']],
  )
})

test('the email address is required if email is the only channel', async () => {
  const { app } = await setUp()
  const { post, createMandate, createCampaign } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate({ channels: ['email'] })
  const withoutEmail = await post('/campaigns', { mandate_id, candidates: [aCandidate(1)] }, { idempotencyKey: true })
  assert.deepEqual(errorPaths(withoutEmail), ['candidates[0].email'])
  const created = await createCampaign(mandate_id, [{ external_candidate_id: 'a', name: 'A', email: 'a@example.com' }])
  assert.equal(created.enrolment.accepted, 1)
})

test('candidates who are already in the campaign are skipped and not charged', async () => {
  const { app } = await setUp()
  const { get, post, enrol, createMandate, createCampaign } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  const { campaign: created, enrolment } = await createCampaign(mandate_id, [
    aCandidate(1),
    aCandidate(1),
    { ...aCandidate(2), phone: aCandidate(1).phone },
    { ...aCandidate(3), external_candidate_id: 'ext-1' },
  ])
  assert.deepEqual(enrolment, {
    accepted: 1,
    duplicates: 3,
    duplicate_rows: [
      { index: 1, external_candidate_id: 'ext-1', reason: 'external_candidate_id', kept_index: 0 },
      { index: 2, external_candidate_id: 'ext-2', reason: 'phone', kept_index: 0 },
      { index: 3, external_candidate_id: 'ext-1', reason: 'external_candidate_id', kept_index: 0 },
    ],
    credits_spent: 1,
    credits_left: 999,
  })
  const listed = await get(`/campaigns/${created.campaign_id}/candidates`)
  const kept_candidate_id = listed.body.data.items[0].candidate_id
  const candidates = [
    { ...aCandidate(9), phone: aCandidate(1).phone },
    { ...aCandidate(8), external_candidate_id: 'ext-1' },
    aCandidate(7),
  ]
  const enrolOnce = () =>
    post(`/campaigns/${created.campaign_id}/candidates`, { candidates }, { idempotencyKey: 'second-enrolment' })
  const withOneNewCandidate = await enrolOnce()
  assert.equal(withOneNewCandidate.status, 202)
  assert.deepEqual(withOneNewCandidate.body.data.enrolment, {
    accepted: 1,
    duplicates: 2,
    duplicate_rows: [
      { index: 0, external_candidate_id: 'ext-9', reason: 'phone', kept_candidate_id },
      { index: 1, external_candidate_id: 'ext-1', reason: 'external_candidate_id', kept_candidate_id },
    ],
    credits_spent: 1,
    credits_left: 998,
  })
  assert.deepEqual((await enrolOnce()).body, withOneNewCandidate.body, 'a repeated request gets the same response')
  // Rows that repeat a skipped row name the candidate who was kept.
  const withoutNewCandidates = await enrol(created.campaign_id, [
    aCandidate(1),
    { ...aCandidate(6), phone: aCandidate(1).phone },
    aCandidate(6),
  ])
  assert.deepEqual(withoutNewCandidates.body.data.enrolment, {
    accepted: 0,
    duplicates: 3,
    duplicate_rows: [
      { index: 0, external_candidate_id: 'ext-1', reason: 'external_candidate_id', kept_candidate_id },
      { index: 1, external_candidate_id: 'ext-6', reason: 'phone', kept_candidate_id },
      { index: 2, external_candidate_id: 'ext-6', reason: 'external_candidate_id', kept_candidate_id },
    ],
    credits_spent: 0,
    credits_left: 998,
  })
  assert.equal(withoutNewCandidates.body.data.campaign.version, withOneNewCandidate.body.data.campaign.version)
  const entries = await get('/credits/entries')
  assert.deepEqual(
    entries.body.data.items.map(({ amount, reason, balance_after }: any) => [amount, reason, balance_after]),
    [
      [-1, 'enrolment', 998],
      [-1, 'enrolment', 999],
      [1000, 'grant', 1000],
    ],
  )
  assert.deepEqual(Object.keys(entries.body.data.items[0]), [
    'entry_id',
    'amount',
    'reason',
    'campaign_id',
    'balance_after',
    'created_at',
  ])
})

test('a retry enrols and charges once', async () => {
  const { app } = await setUp()
  const { get, post, createMandate } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  const body = { mandate_id, candidates: [aCandidate(1)] }
  const responses = await Promise.all(
    Array.from({ length: 5 }, () => post('/campaigns', body, { idempotencyKey: 'same' })),
  )
  const retryResponse = await post('/campaigns', body, { idempotencyKey: 'same' })
  assert.ok(responses.every(({ status }) => status === 202 || status === 409))
  assert.deepEqual([retryResponse.status, retryResponse.headers.get('idempotency-replayed')], [202, 'true'])
  assert.equal((await get('/credits')).body.data.balance, 999)
  assert.equal((await get('/campaigns')).body.data.items.length, 1)
})

test('limits apply to people per day and candidates per campaign', async () => {
  const { app, context, clock } = await setUp()
  const limitedPartner = await createCampaignPartner(app, { peoplePerDay: 3 })
  const { mandate_id } = await limitedPartner.createMandate()
  const { campaign } = await limitedPartner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2)])
  // The same people in another campaign are not counted again.
  await limitedPartner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2), aCandidate(3)])
  const overLimit = await limitedPartner.enrol(campaign.campaign_id, [aCandidate(4)])
  assert.deepEqual([overLimit.status, overLimit.body.error.code], [422, 'LIMIT_EXCEEDED'])
  const otherKey = await createCampaignPartner(app, { orgId: limitedPartner.orgId, credits: 0, peoplePerDay: 3 })
  assert.equal((await otherKey.enrol(campaign.campaign_id, [aCandidate(4)])).status, 202) // counted by key
  clock.set('2026-03-11T18:30:00Z') // midnight in India
  assert.equal((await limitedPartner.enrol(campaign.campaign_id, [aCandidate(5)])).status, 202)
  const { rows: days } = await sql<{ people: number }>`
    select people from people_days where key_id = ${limitedPartner.key.keyId} order by day`.execute(context.db.queries)
  assert.deepEqual(
    days.map(({ people }) => people),
    [3, 1],
  )
  clock.set('2026-03-11T06:30:00Z')

  const unlimitedPartner = await createCampaignPartner(app)
  const largeCampaign = await unlimitedPartner.createCampaign((await unlimitedPartner.createMandate()).mandate_id, [
    aCandidate(1),
  ])
  await sql`update campaigns set candidates = 1999, completed = 1998 where campaign_id = ${largeCampaign.campaign.campaign_id}`.execute(
    context.db.queries,
  )
  const overCapacity = await unlimitedPartner.enrol(largeCampaign.campaign.campaign_id, [aCandidate(2), aCandidate(3)])
  assert.deepEqual([overCapacity.status, overCapacity.body.error.code], [422, 'LIMIT_EXCEEDED'])
  assert.equal(
    (await unlimitedPartner.enrol(largeCampaign.campaign.campaign_id, [aCandidate(2), aCandidate(1)])).status,
    202,
  )
})

test('campaigns can be paused, resumed and archived only from the right states', async () => {
  const { app } = await setUp()
  const { get, post, remove, enrol, createMandate, createCampaign } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  const { campaign: created } = await createCampaign(mandate_id, [aCandidate(1)])
  const path = `/campaigns/${created.campaign_id}`
  const statusOf = async (response: Promise<any>) => {
    const { status, body } = await response
    return [status, body.data?.status ?? body.error.code]
  }
  assert.deepEqual(await statusOf(post(`${path}/resume`)), [409, 'CONFLICT'])
  assert.deepEqual(await statusOf(post(`${path}/pause`, { until: 'Monday' })), [400, 'VALIDATION_FAILED'])
  assert.deepEqual(await statusOf(post(`${path}/pause`)), [200, 'paused'])
  assert.deepEqual(await statusOf(post(`${path}/pause`)), [409, 'CONFLICT'])
  assert.equal((await enrol(created.campaign_id, [aCandidate(2)])).body.data.campaign.status, 'paused')
  assert.deepEqual(await statusOf(post(`${path}/resume`, {})), [200, 'running'])
  const archiveResponse = await remove(path)
  assert.deepEqual([archiveResponse.status, archiveResponse.body.data.status], [200, 'archived'])
  assert.deepEqual(archiveResponse.body.data.counts, {
    candidates: 2,
    pending: 0,
    completed: 0,
    declined: 0,
    failed: 2,
  })
  const results = (await get(`/results?campaign_id=${created.campaign_id}`)).body.data.items
  assert.deepEqual(
    results.map(({ status, reason }: any) => [status, reason]),
    [
      ['failed', 'stopped'],
      ['failed', 'stopped'],
    ],
  )
  const repeatedResponse = await remove(path)
  assert.deepEqual([repeatedResponse.status, repeatedResponse.body.data], [200, archiveResponse.body.data])
  for (const change of [post(`${path}/pause`), post(`${path}/resume`), enrol(created.campaign_id, [aCandidate(3)])])
    assert.deepEqual(await statusOf(change), [409, 'CONFLICT'])
})

test('a campaign is scheduled until its start', async () => {
  const { app, clock } = await setUp()
  const { get, post, enrol, createMandate, createCampaign } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  const latestStart = new Date(clock.now() + 30 * DAY).toISOString()
  const latest = await createCampaign(mandate_id, [aCandidate(9)], { starts_at: latestStart })
  assert.equal(latest.campaign.starts_at, latestStart)
  const starts_at = new Date(clock.now() + 2 * HOUR).toISOString()
  const { campaign: created } = await createCampaign(mandate_id, [aCandidate(1)], { starts_at })
  assert.deepEqual([created.status, created.starts_at], ['scheduled', starts_at])
  assert.equal((await post(`/campaigns/${created.campaign_id}/pause`)).status, 409)
  assert.equal((await enrol(created.campaign_id, [aCandidate(2)])).body.data.campaign.status, 'scheduled')
  clock.advance(2 * HOUR)
  assert.equal((await get(`/campaigns/${created.campaign_id}`)).body.data.status, 'running')
  clock.advance(-2 * HOUR)
})

test('a mandate with an open campaign cannot be archived', async () => {
  const { app, context, clock } = await setUp()
  const { remove, createMandate, createCampaign, scope } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  const { campaign: created } = await createCampaign(mandate_id)
  assert.equal((await remove(`/mandates/${mandate_id}`)).status, 409)
  assert.equal((await remove(`/campaigns/${created.campaign_id}`)).status, 200)
  await context.db.transaction((tx) => archiveMandate(tx, scope, clock, mandate_id))
})

test('a campaign created in the console can be read but not changed through the API', async () => {
  const { app, context } = await setUp()
  const { get, post, remove, enrol, createMandate, createCampaign } = await createCampaignPartner(app)
  const { campaign: created } = await createCampaign((await createMandate()).mandate_id)
  await sql`update campaigns set created_via = 'playground' where campaign_id = ${created.campaign_id}`.execute(
    context.db.queries,
  )
  const path = `/campaigns/${created.campaign_id}`
  assert.equal((await get(path)).body.data.created_via, 'playground')
  for (const change of [
    post(`${path}/pause`),
    post(`${path}/resume`),
    remove(path),
    enrol(created.campaign_id, [aCandidate(1)]),
  ])
    assert.equal((await change).status, 403)
})

test('a LIVE campaign needs credentials for one of its channels; the error lists them', async () => {
  const { app } = await setUp()
  const { post, createMandate } = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await createMandate({ channels: ['sms', 'voice'] })
  const rejectedResponse = await post(
    '/campaigns',
    { mandate_id, candidates: [{ ...aCandidate(1), language: 'ta' }] },
    { idempotencyKey: true },
  )
  assert.deepEqual([rejectedResponse.status, rejectedResponse.body.error.code], [409, 'CONFLICT'])
  assert.match(rejectedResponse.body.error.message, /sms, voice/)
  const mandateWithWhatsApp = await createMandate({ channels: ['sms', 'whatsapp'] })
  assert.equal(
    (await post('/campaigns', { mandate_id: mandateWithWhatsApp.mandate_id }, { idempotencyKey: true })).status,
    202,
  )
})

test('candidates keep the questions that were ready at their enrolment', async () => {
  const { app, context } = await setUp()
  const { get, put, enrol, createMandate, createCampaign } = await createCampaignPartner(app)
  const { mandate_id, workflow_id } = await createMandate()
  const { campaign: created } = await createCampaign(mandate_id, [aCandidate(1)])
  const replaceResponse = await put(`/mandates/${mandate_id}`, { ...aMandate(workflow_id), title: 'Wireman' })
  assert.equal(replaceResponse.status, 202, JSON.stringify(replaceResponse.body))
  await enrol(created.campaign_id, [aCandidate(2)])
  await prepareMandates(context)
  const laterEnrolment = await enrol(created.campaign_id, [aCandidate(3)])
  assert.equal(laterEnrolment.body.data.campaign.flow_version, 2)
  const results = (await get('/results')).body.data.items
  assert.deepEqual(
    Object.fromEntries(results.map((result: any) => [result.candidate.external_candidate_id, result.flow_version])),
    { 'ext-1': 1, 'ext-2': 1, 'ext-3': 2 },
  )
})
