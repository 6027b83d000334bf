import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { startApp } from '../../../test/support/app.ts'
import { type ConsoleUser, signIn, signInMember } from '../../../test/support/console.ts'
import { aCandidate, aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'
import { answerWithoutVerdict } from '../../../test/support/undecided-candidate.ts'
import { until } from '../../../test/support/until.ts'
import { erasePerson } from '../../people/erasure.ts'
import { HOUR } from '../../platform/clock.ts'
import type { Job } from '../../platform/jobs/queue.ts'
import { consoleJobs, handleConsoleJobs } from '../jobs.ts'
import { eraseCandidateEntries, listOutdatedScopes, refreshCandidateList } from './candidate-list.ts'

const REQUEST = { basis: 'GDPR Article 17', requested_by: 'data subject' }

test('an organisation whose results were never copied to the list is outdated, until they are', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [aCandidate(1)])
  const { queries } = app.context.db
  assert.deepEqual(await listOutdatedScopes(queries), [partner.scope])
  assert.equal((await partner.get('/results')).body.data.items.length, 1) // assigns the positions in the list
  assert.deepEqual(await listOutdatedScopes(queries), [partner.scope])
  assert.equal(await refreshCandidateList(app.context, partner.scope), true)
  assert.deepEqual(await listOutdatedScopes(queries), [])
})

test('the job copies new results to the list of every organisation, even if it fails for one of them', async (t) => {
  // Without the engine that contacts candidates, because a contact after the run of the job would make a list outdated again.
  const app = await startApp(t, { worker: handleConsoleJobs })
  const { db, queue } = app.context
  const partners = [
    await createCampaignPartner(app),
    await createCampaignPartner(app),
    await createCampaignPartner(app),
  ]
  for (const partner of partners) {
    const { mandate_id } = await partner.createMandate()
    await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2)])
  }
  const [broken, ...others] = partners.map(({ orgId }) => orgId).sort()
  await db.pool.query(`update candidate_progress set conversation = '{"step": 1, "poin' where org_id = $1`, [broken])
  const job = consoleJobs.find(({ name }) => name === 'refresh-candidate-lists') as Job<Record<string, never>>
  await db.transaction((tx) => queue.enqueue(tx, job, {}))
  await until(() => app.logLines.some((line) => line.includes('copying changed results failed for 1 of ')))
  const { rows } = await db.pool.query(
    'select org_id, count(*)::int as count from candidate_list group by org_id order by org_id',
  )
  assert.deepEqual(
    rows,
    others.map((org_id) => ({ org_id, count: 2 })),
  )
  const outdated = (await listOutdatedScopes(db.queries)).map(({ orgId }) => orgId)
  assert.deepEqual(outdated, [broken])
})

test('two requests that copy the same results at the same time both succeed', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [aCandidate(1)])
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const list = async () => (await viewer.get(`/orgs/${partner.orgId}/test/recruiter-results`)).body.data.items.length
  assert.equal(await list(), 1)
  await partner.createCampaign(mandate_id, [aCandidate(2)])

  const { db } = app.context
  const responses = await db.asOwner(async ({ pool }) => {
    const blocker = await pool.connect()
    try {
      await blocker.query('begin')
      await blocker.query('select 1 from candidate_list_positions for update')
      const requests = [list(), list()]
      await until(async () => {
        const { rows } = await blocker.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
        return rows.length === requests.length
      })
      await blocker.query('commit')
      return Promise.all(requests)
    } finally {
      blocker.release()
    }
  })
  assert.deepEqual(responses, [2, 2])
})

test('results are listed by verdict, newest first, with phone numbers', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const candidates = [1, 2, 3, 4, 5, 6].map((number) => aTestNumberCandidate(number)) // passes, knocked out, fails, not interested, declines, silent
  const { campaign_id } = (await partner.createCampaign(mandate_id, candidates)).campaign
  await passTime(app, 8000)
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const path = `/orgs/${partner.orgId}/test/recruiter-results`
  const listResults = async (query: string) => {
    const { status, body } = await viewer.get(`${path}?${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body.data
  }
  const candidateIds = ({ items }: any) => items.map(({ candidate }: any) => candidate.external_candidate_id).sort()

  const allResults = await listResults('limit=100')
  const times = allResults.items.map(({ updated_at }: any) => updated_at)
  assert.deepEqual(times, times.toSorted().reverse())
  assert.deepEqual(candidateIds(allResults), ['ext-1', 'ext-2', 'ext-3', 'ext-4', 'ext-5', 'ext-6'])
  assert.deepEqual(candidateIds(await listResults('verdict=to_call')), ['ext-1'])
  assert.deepEqual(candidateIds(await listResults('verdict=qualified')), ['ext-1', 'ext-4'])
  assert.deepEqual(candidateIds(await listResults('verdict=not_qualified')), ['ext-2', 'ext-3'])
  assert.deepEqual(candidateIds(await listResults('verdict=qualified&status=pending')), [])
  assert.deepEqual(
    candidateIds(await listResults('verdict=not_qualified&status=declined')),
    [],
    'no verdict without a completed result',
  )
  const [firstResult] = (await listResults(`verdict=to_call&campaign_id=${campaign_id}`)).items
  assert.deepEqual([firstResult.candidate.phone, firstResult.candidate.email], ['+919990000001', null])
  const { enrichment: _, ...shownOutput } = (await partner.get(`/results/${firstResult.result_id}`)).body.data.output
  assert.deepEqual(firstResult.output, shownOutput, 'the output of the partner API, without the answers')

  const listedIds: string[] = []
  for (let cursor = ''; cursor !== null; ) {
    const page = await listResults(`limit=2${cursor && `&cursor=${cursor}`}`)
    assert.ok(page.items.length > 0)
    listedIds.push(...page.items.map(({ result_id }: any) => result_id))
    cursor = page.next_cursor
  }
  assert.deepEqual(
    listedIds,
    allResults.items.map(({ result_id }: any) => result_id),
  )
  const [firstPage, bothResults] = [
    await listResults('verdict=qualified&limit=1'),
    await listResults('verdict=qualified&limit=2'),
  ]
  assert.equal(bothResults.next_cursor, null)
  assert.deepEqual(
    (await listResults(`verdict=qualified&limit=1&cursor=${firstPage.next_cursor}`)).items,
    bothResults.items.slice(1),
  )
  assert.equal((await viewer.get(`${path}?verdict=to_call&limit=1&cursor=${firstPage.next_cursor}`)).status, 400)
  assert.equal((await viewer.get(`${path}?verdict=best`)).status, 400)
  assert.deepEqual(candidateIds(await listResults(`campaign_id=CP_01ARZ3NDEKTSV4RRFFQ69G5FAV`)), [])

  const csv = (await viewer.get(`/orgs/${partner.orgId}/test/export/results.csv?verdict=to_call`))
    .body as unknown as string
  const lines = csv.trim().split('\r\n')
  assert.equal(lines.length, 2)
  assert.match(lines[1]!, /^Electrician,.*,ext-1,Person 1,\+919990000001,,completed,/)

  const rejectedExport = await viewer.get(`/orgs/${partner.orgId}/test/export/results.csv?verdict=not_qualified`)
  const [head, ...rows] = (rejectedExport.body as unknown as string)
    .trim()
    .split('\r\n')
    .map((line) => line.split(','))
  const knockoutColumn = head!.indexOf('knocked_out_by')
  const candidateIdColumn = head!.indexOf('external_candidate_id')
  assert.deepEqual(rows.map((row) => [row[candidateIdColumn], row[knockoutColumn]]).sort(), [
    ['ext-2', 'licence'],
    ['ext-3', ''],
  ])

  app.clock.advance(2 * HOUR)
  assert.deepEqual(candidateIds(await listResults('changed_within_hours=1')), [])
  assert.equal((await listResults('changed_within_hours=3')).items.length, 6)
})

test('undecided candidates can be listed, and the export contains verdicts, reasons and evidence of each skill', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const candidates = [
    aTestNumberCandidate(1),
    aTestNumberCandidate(2),
    aTestNumberCandidate(3),
    aTestNumberCandidate(6),
  ]
  await partner.createCampaign(mandate_id, [...candidates, aCandidate(7)])
  await passTime(app, 8000)
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const base = `/orgs/${partner.orgId}/test`
  const listUndecided = async () => (await viewer.get(`${base}/recruiter-results?verdict=undecided`)).body.data.items
  assert.deepEqual(await listUndecided(), [], 'candidates who have not finished are not undecided')
  const allResults = (await viewer.get(`${base}/recruiter-results`)).body.data.items
  const { candidate_id } = allResults.find(
    ({ candidate }: any) => candidate.external_candidate_id === 'ext-7',
  ).candidate
  await answerWithoutVerdict(app, partner.orgId, candidate_id)
  const undecided = await listUndecided()
  assert.deepEqual(
    undecided.map(({ candidate, status, output }: any) => [candidate.candidate_id, status, output.qualified]),
    [[candidate_id, 'completed', null]],
  )

  const csv = (await viewer.get(`${base}/export/results.csv`)).body as unknown as string
  const rows = parse(csv.replace('\ufeff', ''), { columns: true }) as Record<string, string>[]
  const rowOf = (id: string) => rows.find((row) => row.external_candidate_id === id)!
  const [name] = undecided[0].output.skills.map((skill: any) => skill.name)
  assert.deepEqual(
    ['ext-1', 'ext-2', 'ext-6', 'ext-7'].map((id) => [rowOf(id).verdict, rowOf(id).verdict_reasons]),
    [
      ['qualified', ''],
      ['not qualified', 'answered no to “Do you hold a wireman licence?”'],
      ['', ''],
      ['undecided', undecided[0].output.skills.map((skill: any) => `${skill.name} inconclusive`).join('; ')],
    ],
  )
  const columnsOf = ({ result_id, campaign_id, mandate_id, candidate, output, ...result }: any) => [
    ...[result_id, campaign_id, mandate_id, candidate.candidate_id, candidate.name, candidate.phone, candidate.email],
    ...[result.status, result.reason, result.completed_at, result.updated_at],
    ...[output.qualified, output.interest, output.language, output.channel],
  ]
  const names = ['result_id', 'campaign_id', 'mandate_id', 'candidate_id', 'name', 'phone', 'email', 'status', 'reason']
  names.push('completed_at', 'updated_at', 'qualified', 'interest', 'language', 'channel')
  const results = (await viewer.get(`${base}/recruiter-results`)).body.data.items
  for (const result of results) {
    const row = rowOf(result.candidate.external_candidate_id)
    assert.deepEqual(
      names.map((column) => row[column]),
      columnsOf(result).map((value) => `${value ?? ''}`),
    )
  }
  assert.deepEqual([rowOf('ext-1').interest, rowOf('ext-6').interest], ['interested', ''])
  assert.match(rowOf('ext-3').verdict_reasons!, new RegExp(`^${name} not verified;`))
  const passed = rowOf('ext-1')
  assert.deepEqual(
    [passed.skill_1, passed.skill_1_verdict, passed.skill_1_correct, passed.skill_1_source, passed.skill_1_language],
    [name, 'verified', passed.skill_1_asked, 'public questions', 'en'],
  )
  assert.ok(Number(passed.skill_1_confidence) >= 0.95)
  assert.match(passed.skill_1_summary!, /^4 of 4 correct, 9\d % certain$/)
  const open = rowOf('ext-7')
  assert.deepEqual([open.skill_3_verdict, open.skill_3_asked, open.skill_3_median_seconds], ['inconclusive', '8', '12'])
  assert.ok(Number(open.skill_3_confidence) < 0.95)
  assert.match(open.skill_3_summary!, /^not enough evidence \(\d of 8 correct\)$/)
  assert.deepEqual([rowOf('ext-2').skill_1_verdict, rowOf('ext-2').skill_1_confidence], ['not_asked', ''])
})

test('candidates are searched by name, phone number, email address and ID, counted and sorted', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const other = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [
    { external_candidate_id: 'wk-17', name: 'Ramesh Kumar', phone: '+919812345678', email: 'ramesh.k@example.com' },
    { external_candidate_id: 'wk-18', name: 'Rama Devi', phone: '+919812340000' },
  ])
  app.clock.advance(HOUR)
  await partner.createCampaign(mandate_id, [
    { external_candidate_id: 'wk-19', name: 'सुनीता शर्मा', phone: '+919800001111' },
    { external_candidate_id: '9812345678', name: 'Anil 100%', phone: '+919800002222' },
  ])
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const list = async (query: string) => {
    const { status, body } = await viewer.get(`/orgs/${partner.orgId}/test/recruiter-results?${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body.data
  }
  const names = async (q: string) =>
    (await list(`q=${encodeURIComponent(q)}`)).items.map(({ candidate }: any) => candidate.name).sort()
  assert.deepEqual(await names('ram'), ['Rama Devi', 'Ramesh Kumar'])
  assert.deepEqual(await names('kumar RAMESH'), ['Ramesh Kumar'])
  assert.deepEqual(await names('esh'), [], 'words are found by their beginning')
  assert.deepEqual(await names('सुनी'), ['सुनीता शर्मा'])
  assert.deepEqual(await names('+91 98123 45678'), ['Ramesh Kumar'])
  assert.deepEqual(await names('9812345678'), ['Anil 100%', 'Ramesh Kumar'], 'an ID, and the end of a phone number')
  assert.deepEqual(await names('5678'), ['Ramesh Kumar'])
  assert.deepEqual(await names('RAMESH.K@example.com'), ['Ramesh Kumar'])
  assert.deepEqual(await names('wk-18'), ['Rama Devi'])
  assert.equal((await names('')).length, 4)

  const counted = await list('q=ram&limit=1')
  assert.deepEqual([counted.items.length, counted.total, counted.is_complete], [1, 2, true])
  const secondPage = await list(`q=ram&limit=1&cursor=${counted.next_cursor}`)
  assert.deepEqual([secondPage.items.length, secondPage.next_cursor], [1, null])
  assert.notEqual(secondPage.items[0].result_id, counted.items[0].result_id)
  const enrolled = (await list('sort=enrolled_first')).items.map(({ created_at }: any) => created_at)
  assert.deepEqual(enrolled, enrolled.toSorted())
  assert.deepEqual(
    (await list('sort=enrolled')).items.map(({ created_at }: any) => created_at),
    enrolled.toReversed(),
  )
  assert.equal((await viewer.get(`/orgs/${partner.orgId}/test/recruiter-results?sort=shoe_size`)).status, 400)

  const stranger = await signInMember(app, other.orgId, 'viewer')
  assert.equal((await stranger.get(`/orgs/${other.orgId}/test/recruiter-results?q=ram`)).body.data.total, 0)
})

test('recruiters mark candidates and write notes, which are stored encrypted, listed, exported and audited', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2), aCandidate(3)])
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const base = `/orgs/${partner.orgId}/test/recruiter-results`
  const list = async (query = '') => (await viewer.get(`${base}?${query}`)).body.data
  const ids = (await list()).items.map(({ candidate }: any) => candidate.candidate_id)
  const [first, second] = ids
  const decide = (body: object) => recruiter.post(`${base}/decisions`, body)

  assert.equal((await recruiter.put('/account/name', { name: 'Ravi Iyer' })).status, 200)
  assert.equal((await decide({ candidate_ids: [first, second], decision: 'shortlisted' })).status, 200)
  assert.equal((await decide({ candidate_ids: [first], note: 'Call after 6 pm' })).status, 200)
  const shortlisted = await list('decision=shortlisted')
  assert.equal(shortlisted.total, 2)
  const noted = shortlisted.items.find(({ candidate }: any) => candidate.candidate_id === first)
  assert.deepEqual([noted.decision, noted.note, noted.decided_by], ['shortlisted', 'Call after 6 pm', recruiter.email])
  assert.equal(noted.decided_by_name, 'Ravi Iyer')
  assert.equal((await list('decision=none')).total, 1)
  const { rows } = await app.context.db.pool.query('select note from candidate_list where candidate_id = $1', [first])
  assert.ok(!rows[0].note.toString('latin1').includes('Call'))

  app.clock.advance(HOUR)
  await passTime(app, 2000) // the conversations go on, and the decisions stay
  assert.equal((await list('decision=shortlisted')).total, 2)
  const csv = (await viewer.get(`/orgs/${partner.orgId}/test/export/results.csv?decision=shortlisted`))
    .body as unknown as string
  const exported = parse(csv.replace('\ufeff', ''), { columns: true }) as Record<string, string>[]
  assert.deepEqual(exported.map(({ decision, note }) => [decision, note]).sort(), [
    ['shortlisted', ''],
    ['shortlisted', 'Call after 6 pm'],
  ])

  assert.equal((await decide({ candidate_ids: [first], decision: null, note: null })).status, 200)
  assert.deepEqual(
    (await list('decision=none')).items.map(({ note }: any) => note),
    [null, null],
  )
  assert.equal((await viewer.post(`${base}/decisions`, { candidate_ids: [first], decision: 'called' })).status, 403)
  assert.equal((await decide({ candidate_ids: [], decision: 'called' })).status, 400)
  const stranger = await createCampaignPartner(app)
  const strangeRecruiter = await signInMember(app, stranger.orgId, 'recruiter')
  const response = await strangeRecruiter.post(`/orgs/${stranger.orgId}/test/recruiter-results/decisions`, {
    candidate_ids: [second],
    decision: 'rejected',
  })
  assert.deepEqual(response.body.data.candidate_ids, [], 'candidates of another organisation are not changed')
  const owner = await signInMember(app, partner.orgId, 'owner')
  const audit = (await owner.get(`/orgs/${partner.orgId}/audit`)).body.data.items
  assert.equal(audit.filter(({ action }: any) => action === 'candidates.decide').length, 3)
  assert.ok(!JSON.stringify(audit).includes('6 pm'))
})

test('candidates are assigned to members, who are notified, filter and count them, until they leave', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2), aCandidate(3)])
  const [owner, meera, viewer] = [
    await signInMember(app, partner.orgId, 'owner'),
    await signInMember(app, partner.orgId, 'recruiter'),
    await signInMember(app, partner.orgId, 'viewer'),
  ]
  assert.equal((await meera.put('/account/name', { name: 'Meera Nair' })).status, 200)
  const org = `/orgs/${partner.orgId}`
  const base = `${org}/test/recruiter-results`
  const list = async (user: ConsoleUser, query = '') => (await user.get(`${base}?${query}`)).body.data
  const memberId = async ({ email }: ConsoleUser) =>
    (await owner.get(`${org}/members`)).body.data.items.find((member: any) => member.email === email).member_id
  const assign = (user: ConsoleUser, candidate_ids: string[], member_id: string | null) =>
    user.post(`${base}/assignments`, { candidate_ids, member_id })
  const ids: string[] = (await list(owner)).items.map(({ candidate }: any) => candidate.candidate_id)
  const unread = async (user: ConsoleUser) =>
    (await user.get(`${org}/test/notifications/unread`)).body.data.unread as number
  const before = await unread(owner)

  const assigned = await assign(owner, ids.slice(0, 2), await memberId(meera))
  assert.deepEqual(assigned.body.data.candidate_ids.toSorted(), ids.slice(0, 2).toSorted())
  assert.deepEqual((await assign(owner, ids.slice(0, 2), await memberId(meera))).body.data.candidate_ids, [])
  const mine = await list(meera, 'assigned_to=me')
  assert.deepEqual([mine.total, mine.items[0].assigned_to_name], [2, 'Meera Nair'])
  assert.equal((await list(owner, 'assigned_to=me')).total, 0)
  assert.equal((await list(owner, `assigned_to=${await memberId(meera)}`)).total, 2)
  assert.equal((await list(owner, 'assigned_to=none')).total, 1)
  assert.equal((await list(meera, 'assigned_to=me&q=person')).total, 2)
  assert.equal((await list(await signIn(app), 'assigned_to=me')).total, 0)
  const { items } = (await meera.get(`${org}/test/notifications`)).body.data
  assert.deepEqual(
    items.map(({ text, path }: any) => [text, path]),
    [['2 candidates were assigned to you', '/results?assigned_to=me&decision=none']],
  )
  assert.deepEqual([await unread(meera), await unread(owner)], [1, before], 'only the member is notified')
  await meera.post(`${org}/test/notifications/read`)
  await assign(meera, [ids[2]!], await memberId(meera))
  assert.equal(await unread(meera), 0, 'not about what they assign to themselves')

  const countOpen = async () => (await meera.get(`${org}/test/summary`)).body.data.assigned_to_me
  assert.equal(await countOpen(), 3)
  await meera.post(`${base}/decisions`, { candidate_ids: [ids[0]], decision: 'called' })
  assert.deepEqual([await countOpen(), (await list(meera, 'assigned_to=me&decision=none')).total], [2, 2])
  const csv = (await meera.get(`${org}/test/export/results.csv?assigned_to=me`)).body as unknown as string
  const exported = parse(csv.replace('\ufeff', ''), { columns: true }) as Record<string, string>[]
  assert.deepEqual(
    exported.map(({ assigned_to }) => assigned_to),
    ['Meera Nair', 'Meera Nair', 'Meera Nair'],
  )

  const one = (await viewer.get(`${base}/${ids[0]}`)).body.data
  assert.deepEqual([one.candidate.candidate_id, one.decision, one.assigned_to_name], [ids[0], 'called', 'Meera Nair'])

  assert.equal((await assign(viewer, [ids[0]!], null)).status, 403)
  assert.equal((await assign(owner, [ids[0]!], await memberId(viewer))).status, 400)
  assert.equal((await viewer.get(`${base}?assigned_to=somebody`)).status, 400)
  const stranger = await createCampaignPartner(app)
  const foreigner = await signInMember(app, stranger.orgId, 'recruiter')
  assert.equal((await foreigner.get(`/orgs/${stranger.orgId}/test/recruiter-results/${ids[0]}`)).status, 404)
  const foreign = { candidate_ids: [ids[0]], member_id: null }
  assert.deepEqual(
    (await foreigner.post(`/orgs/${stranger.orgId}/test/recruiter-results/assignments`, foreign)).body.data
      .candidate_ids,
    [],
  )
  const { items: members } = (await foreigner.get(`/orgs/${stranger.orgId}/members`)).body.data
  assert.equal((await assign(owner, [ids[0]!], members[0].member_id)).status, 400)

  assert.deepEqual((await assign(owner, [ids[2]!], null)).body.data.candidate_ids, [ids[2]])
  assert.equal((await list(owner, 'assigned_to=none')).total, 1)
  assert.equal((await owner.delete(`${org}/members/${await memberId(meera)}`)).status, 200)
  assert.equal((await list(owner, 'assigned_to=none')).total, 3)
  const audit = (await owner.get(`${org}/audit`)).body.data.items
  assert.equal(audit.filter(({ action }: any) => action === 'candidates.assign').length, 3)
})

test('the export, correction and erasure of a person include what the list stores about them', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [
    { ...aCandidate(1), name: 'Kavita Sharma' },
    { ...aCandidate(2), name: 'Sunita Devi' },
  ])
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  const base = `/orgs/${partner.orgId}/test/recruiter-results`
  const find = async (q: string) => (await recruiter.get(`${base}?q=${q}`)).body.data.items
  const [kavita] = await find('kavita')
  const { candidate_id, phone } = kavita.candidate
  await recruiter.post(`${base}/decisions`, {
    candidate_ids: [candidate_id],
    decision: 'called',
    note: 'Asks for nights',
  })
  const person = (await partner.get(`/people?phone=${encodeURIComponent(phone)}`)).body.data.items[0]
  const exported = (await partner.get(`/people/${person.person_id}/export`)).body
  assert.match(JSON.stringify(exported), /"note":"Asks for nights"/)

  assert.equal((await partner.patch(`/people/${person.person_id}`, { name: 'Savita Sharma', ...REQUEST })).status, 200)
  assert.deepEqual(await find('kavita'), [])
  assert.equal((await find('savita'))[0].note, 'Asks for nights')

  assert.equal((await partner.post(`/people/${person.person_id}/erase`, REQUEST)).status, 200)
  for (const q of ['savita', 'sharma', phone.slice(-6)]) assert.deepEqual(await find(q), [], q)
  const [erased] = await find('erased')
  assert.deepEqual([erased.candidate.name, erased.decision, erased.note], ['erased', 'called', null])
  await recruiter.post(`${base}/decisions`, { candidate_ids: [candidate_id], note: 'A note after the erasure' })
  assert.equal((await find('erased'))[0].note, null)
  assert.equal((await find('sunita')).length, 1)
})

test('a candidate who is erased while the list is updated is not found by the earlier name', async (t) => {
  const app = await startApp(t)
  const { db } = app.context
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const { campaign_id } = (await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2)])).campaign
  const [{ candidate_id }] = (await partner.get(`/campaigns/${campaign_id}/candidates`)).body.data.items
  const { rows } = await db.pool.query('select person_id from candidates where candidate_id = $1', [candidate_id])
  const { person_id } = rows[0]
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const list = async () => (await viewer.get(`/orgs/${partner.orgId}/test/recruiter-results?q=person`)).body.data
  const { promise: entriesAreErased, resolve: startListing } = Promise.withResolvers<void>()
  const { promise: listIsWaiting, resolve: commit } = Promise.withResolvers<void>()
  const erasing = db.transaction(async (tx) => {
    await eraseCandidateEntries(tx, [candidate_id])
    startListing()
    await listIsWaiting
    await erasePerson(tx, app.context, { orgId: partner.orgId, mode: 'test' }, person_id, {
      basis: 'test',
      requestedBy: 'test',
    })
  })
  await entriesAreErased
  const listing = list()
  await until(async () => {
    const waiting = await db.pool.query(
      `select 1 from pg_locks where not granted and pid in (select pid from pg_stat_activity where datname = current_database())`,
    )
    return waiting.rows.length > 0
  })
  commit()
  await erasing
  assert.equal((await listing).total, 1)
  assert.equal((await list()).total, 1)
})

test('a search that thousands of candidates match returns the newest first, with the count', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const names = ['Ramesh Older', 'Ramesh Newer', 'Sunita Other']
  const campaignIds: string[] = []
  for (const [index, name] of names.entries()) {
    const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(index + 1, { name })])
    campaignIds.push(campaign.campaign_id)
    await passTime(app, 1000)
  }
  const viewer = await signInMember(app, partner.orgId, 'recruiter')
  const path = `/orgs/${partner.orgId}/test/recruiter-results`
  const search = async (query: string) => {
    const { items, total, is_more } = (await viewer.get(`${path}?${query}`)).body.data
    return { names: items.map(({ candidate }: any) => candidate.name), total: is_more ? `more than ${total}` : total }
  }
  const addOldEntries = (from: number, to: number) =>
    app.context.db.asOwner(({ pool }) =>
      pool.query(`
        insert into candidate_list (candidate_id, org_id, mode, campaign_id, mandate_id, result_id, status, to_call, enrolled_at, listed_at, tokens)
        select 'CD_' || n, org_id, mode, campaign_id, mandate_id, 'RS_' || n, status, to_call, enrolled_at, listed_at - interval '1 hour', tokens
        from generate_series(${from}, ${to}) as n, (select * from candidate_list order by listed_at desc limit 1 offset 2) as oldest`),
    )
  assert.deepEqual(await search('q=ramesh'), { names: ['Ramesh Newer', 'Ramesh Older'], total: 2 })
  // Entries of candidates that no longer exist have no name, but count.
  await addOldEntries(1, 5000)
  assert.deepEqual(await search('q=ramesh'), { names: ['Ramesh Newer', 'Ramesh Older'], total: 5002 })
  assert.deepEqual(await search('q=ramesh&status=pending'), { names: ['Ramesh Newer', 'Ramesh Older'], total: 5002 })
  assert.deepEqual(await search('q=ramesh&status=completed'), { names: [], total: 0 })
  assert.deepEqual(await search('q=sunita'), { names: ['Sunita Other'], total: 1 })
  assert.deepEqual(await search('q=ramesh&changed_within_hours=1'), {
    names: ['Ramesh Newer', 'Ramesh Older'],
    total: 2,
  })
  assert.deepEqual(await search('q=ramesh&assigned_to=none'), { names: ['Ramesh Newer', 'Ramesh Older'], total: 5002 })
  assert.deepEqual(await search('q=ramesh&assigned_to=me'), { names: [], total: 0 })

  // Few candidates match the search and the other filters.
  const ofNewer = { names: ['Ramesh Newer'], total: 1 }
  await app.context.db.pool.query(`update campaigns set job_id = 'job-2' where campaign_id = $1`, [campaignIds[1]])
  assert.deepEqual(await search('q=ramesh&job_id=job-2'), ofNewer)
  assert.deepEqual(await search(`campaign_id=${campaignIds[1]}&status=pending&sort=enrolled`), ofNewer)
  assert.deepEqual(await search(`campaign_id=${campaignIds[1]}&status=completed`), { names: [], total: 0 })
  assert.deepEqual(await search(`campaign_id=${campaignIds[1]}&verdict=to_call`), { names: [], total: 0 })
  assert.deepEqual(await search('status=completed'), { names: [], total: 0 })
  assert.deepEqual(await search(`q=ramesh&campaign_id=${campaignIds[1]}&sort=enrolled_first`), ofNewer)
  assert.deepEqual(
    await search(`q=ramesh&campaign_id=${campaignIds[1]}&mandate_id=${mandate_id}&status=pending`),
    ofNewer,
  )
  assert.deepEqual(await search(`q=ramesh&campaign_id=${campaignIds[2]}`), { names: [], total: 0 })
  assert.deepEqual(await search('q=ramesh&verdict=to_call'), { names: [], total: 0 })
  const { items } = (await viewer.get(`${path}?campaign_id=${campaignIds[1]}`)).body.data
  const candidate_ids = [items[0].candidate.candidate_id]
  const decided = await viewer.post(`${path}/decisions`, { candidate_ids, decision: 'shortlisted' })
  assert.equal(decided.status, 200, JSON.stringify(decided.body))
  assert.deepEqual(await search('q=ramesh&decision=shortlisted'), ofNewer)
  assert.deepEqual(await search(`q=ramesh&decision=none&campaign_id=${campaignIds[1]}`), { names: [], total: 0 })
  assert.deepEqual(await search('q=ramesh&decision=none'), { names: ['Ramesh Older'], total: 5001 })
  assert.deepEqual(await search(`campaign_id=${campaignIds[1]}&status=pending&decision=none`), { names: [], total: 0 })

  await addOldEntries(5001, 9998)
  assert.deepEqual(await search('q=ramesh'), { names: ['Ramesh Newer', 'Ramesh Older'], total: 10_000 })
  await addOldEntries(9999, 9999)
  assert.deepEqual(await search('q=ramesh'), { names: ['Ramesh Newer', 'Ramesh Older'], total: 'more than 10000' })
  assert.deepEqual(await search('q=ramesh&decision=none'), { names: ['Ramesh Older'], total: 10_000 })
  assert.deepEqual(await search(''), { names: names.toReversed(), total: 'more than 10000' })
  // The pages of a long list continue where the previous page ended.
  for (const query of ['', 'q=ramesh', 'status=pending', 'status=pending&changed_within_hours=8760']) {
    const firstPage = (await viewer.get(`${path}?${query}&limit=1`)).body.data
    const secondPage = (await viewer.get(`${path}?${query}&limit=1&cursor=${firstPage.next_cursor}`)).body.data
    const { items: bothPages } = (await viewer.get(`${path}?${query}&limit=2`)).body.data
    assert.deepEqual([...firstPage.items, ...secondPage.items], bothPages)
    assert.equal(secondPage.total, null)
  }
})
