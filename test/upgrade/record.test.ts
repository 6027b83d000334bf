import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import pg from 'pg'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import { cloneDatabase, startApp, type TestApp } from '../support/app.ts'
import { aPerson, startAts, startReports } from '../support/ats/connection.ts'
import { inviteCandidates } from '../support/candidate.ts'
import { signIn } from '../support/console.ts'
import { issueCredential } from '../support/issued-credentials.ts'
import { aCandidate, createCampaignPartner, passTime } from '../support/partners.ts'
import { until } from '../support/until.ts'
import { BRICKLAYING, expectOk, verificationCalls } from '../support/verification.ts'
import type { RecordedRead, Recording } from './recording.ts'

// Fills a database and records its rows and what the server returns for them. To replace the recording, copy the folder test/upgrade to a
// checkout of the previous release and run: RECORD_UPGRADE=previous-release.json npm test -- test/upgrade/record
const path = process.env.RECORD_UPGRADE

const CANDIDATES = [
  { name: 'Asha Quillfeather', email: 'asha.quillfeather@example.com', words: 'Nine years of wiring in Ratnagiri' },
  { name: 'Bhanu Ostrowick', email: 'bhanu.ostrowick@example.com', words: 'Cabled the Wadgaon substation' },
  { name: 'Chitra Pellowe', email: 'chitra.pellowe@example.com' },
  { name: 'Dev "Dodo" Vantongeren', email: 'dev.vantongeren@example.com' },
]
const STUDENTS = ['Esha Marchbanks', 'Farid Loxley', 'Gita Thistlewood', 'Hari Penhaligon']
const REVIEWERS = ['Indira Cavendish', 'Jatin Ravensworth', 'Kavya Winterbourne']
const PERSONAL_WORDS = [
  'Worked with me at the Sangli mill',
  'I never met this student before',
  'A hall of grey Chunar stone',
  'Lohegaon',
]

test('the rows of this release are recorded', { skip: path === undefined }, async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const session = await app.fixtures.createSessionKey(partner.orgId)
  await fillCampaigns()
  const connectionId = await fillAts()
  const { verificationIds, credentialId, holderToken } = await fillVerifications()
  const recording: Omit<Recording, 'reads'> = {
    masterKey: app.context.config.masterKey!.toString('base64'),
    partnerKey: partner.key,
    sessionKey: session,
    holderToken,
    publicUrl: app.url,
    now: app.clock.now(),
    tables: await readRows(app),
    personalValues: [
      ...CANDIDATES.flatMap(({ name, email, words }) => [name, email, ...(words ? [words] : [])]),
      ...CANDIDATES.map((_, index) => `9198${10_000_000 + index}`),
      ...[...STUDENTS, ...REVIEWERS].flatMap((name) => [name, emailOf(name)]),
      ...PERSONAL_WORDS,
      'Ludmila Quartermaine',
      '98765 43210',
    ],
  }
  const reads = await recordReads(verificationIds, credentialId, connectionId)
  await writeFile(path!, `${JSON.stringify({ ...recording, reads })}\n`)

  async function fillCampaigns() {
    const { mandate_id } = await partner.createMandate({ languages: ['en'] }, {
      methods: ['data_enrichment', 'interest_collection'],
      enrichment_questions: [
        { key: 'work', type: 'voice', text: 'Describe your work.' },
        { key: 'licence', type: 'yes_no', text: 'Do you hold a licence?' },
      ],
    } as never)
    const endpoint = await partner.post('/webhooks', { url: 'https://hooks.example.com/attestry' })
    if (endpoint.status !== 201) throw new Error(JSON.stringify(endpoint.body))
    const invited = await inviteCandidates(
      app,
      partner,
      mandate_id,
      CANDIDATES.map(({ name, email }, index) => aCandidate(index, { name, email, metadata: { town: 'Lohegaon' } })),
    )
    const [asha, bhanu, chitra] = invited.map(({ page }) => page)
    await asha!.view()
    await asha!.reply({ value: 'yes' })
    await asha!.reply({ text: CANDIDATES[0]!.words! })
    await asha!.reply({ value: 'yes' })
    await asha!.reply({ value: 'yes' })
    await bhanu!.view()
    await bhanu!.reply({ value: 'yes' })
    await bhanu!.reply({ text: CANDIDATES[1]!.words! })
    await chitra!.view()
    await chitra!.reply({ value: 'stop' })
  }

  async function fillAts(): Promise<string> {
    startReports(t, app)
    const {
      ats,
      connectionId,
      partner: owner,
    } = await startAts(t, app, 'workable', { partner: { orgId: partner.orgId } })
    const { mandate_id } = await owner.createMandate()
    const order = await ats.order(
      'order-1',
      mandate_id,
      aPerson(1, 1, { firstName: 'Ludmila', lastName: 'Quartermaine' }),
    )
    if (order.status !== 200) throw new Error(order.message)
    await passTime(app, 10_000)
    await until(() => order.state.startsWith('complete'))
    await until(async () => {
      const client = await app.context.db.pool.query('select from ats_reports where last_request is null')
      return client.rowCount === 0
    })
    return connectionId
  }

  async function fillVerifications() {
    const calls = verificationCalls(app, partner.orgId, session)
    const student = (index: number) => ({
      externalStudentId: `stu-${index}`,
      name: STUDENTS[index],
      email: emailOf(STUDENTS[index]!),
      projects: [
        { externalProjectId: 'p-1', projectName: 'Hall', role: 'Mason', description: 'A hall of grey Chunar stone' },
      ],
    })
    const reviewer = (index: number) => ({ name: REVIEWERS[index], email: emailOf(REVIEWERS[index]!) })
    const endorsed = await calls.requestReview({ student: student(0), reviewer: reviewer(0) })
    await expectOk(
      calls.submitReview(endorsed.session, endorsed.token, {
        decisions: [{ skillId: BRICKLAYING, endorsed: true, comment: 'Worked with me at the Sangli mill' }],
      }),
    )
    const declined = await calls.requestReview({ student: student(1), reviewer: reviewer(1) })
    await expectOk(
      calls.submitReview(declined.session, declined.token, {
        declined: true,
        reason: 'I never met this student before',
      }),
    )
    const waiting = await calls.requestReview({ student: student(2), reviewer: reviewer(2) })
    const passed = await issueCredential(calls, { student: student(3), showName: true })
    return {
      verificationIds: [endorsed, declined, waiting, passed].map(({ session: { id } }) => id),
      credentialId: passed.id,
      holderToken: passed.holderToken,
    }
  }

  async function recordReads(verificationIds: string[], credentialId: string, connectionId: string) {
    await contactNow(app.context)
    const operator = await signIn(app)
    const reads: RecordedRead[] = []
    const ids = async (list: string, name: string) =>
      (await partner.get(list)).body.data.items.map((item: any) => item[name])
    const read = async (as: RecordedRead['as'], path: string) => {
      const headers: Record<string, string> =
        as === 'session_key'
          ? { 'x-api-key': session }
          : as === 'holder'
            ? { authorization: `Bearer ${holderToken}` }
            : {}
      const { status, body } =
        as === 'partner'
          ? await partner.get(path)
          : as === 'operator'
            ? await operator.get(path)
            : await app.fetch(path, { headers })
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
      reads.push({ as, path, body })
      return body
    }
    await read('partner', '/results?limit=100')
    for (const id of await ids('/results?limit=100', 'result_id')) await read('partner', `/results/${id}`)
    await read('partner', '/events?acknowledged=all&limit=100')
    await read('partner', '/credits')
    await read('public', `/credentials/${credentialId}.json`)
    await read('holder', '/api/v1/holder')
    for (const id of await ids('/campaigns', 'campaign_id')) {
      await read('partner', `/campaigns/${id}`)
      await read('partner', `/campaigns/${id}/candidates?limit=100`)
    }
    for (const id of verificationIds) await read('session_key', `/api/v1/verification/${id}`)
    const organisation = `/orgs/${partner.orgId}`
    const people = await read('operator', `${organisation}/test/people?limit=100`)
    for (const { candidate } of people.data.items)
      await read('operator', `${organisation}/test/candidates/${candidate.candidate_id}`)
    await read('operator', `${organisation}/live/verifications`)
    for (const id of verificationIds) await read('operator', `${organisation}/live/verifications/${id}`)
    await read('operator', `${organisation}/test/ats/connections/${connectionId}/orders`)
    const emails = await read('operator', '/operator/mails?limit=100')
    for (const { mail_id } of emails.data.items) await read('operator', `/operator/mails/${mail_id}`)
    return reads
  }
})

function emailOf(name: string): string {
  return `${name.toLowerCase().replace(' ', '.')}@example.org`
}

/** Returns the rows of all tables that the migrations and the catalogue do not fill, in an order that keeps foreign keys. */
async function readRows(app: TestApp): Promise<Recording['tables']> {
  const template = await cloneDatabase()
  const empty = new pg.Client({ connectionString: template.ownerUrl })
  const filled = new pg.Client({ connectionString: app.context.config.databaseOwnerUrl! })
  await Promise.all([empty.connect(), filled.connect()])
  try {
    const { rows: tables } = await filled.query<{ name: string; parents: string[] }>(`
      select relname as name, array(select confrelid::regclass::text from pg_constraint where conrelid = c.oid and contype = 'f'
        and confrelid <> c.oid) as parents
      from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by relname`)
    const recorded: Recording['tables'] = []
    const waiting = new Map(tables.map(({ name, parents }) => [name, parents]))
    while (waiting.size > 0)
      for (const [name, parents] of waiting) {
        if (parents.some((parent) => waiting.has(parent))) continue
        waiting.delete(name)
        const isBuiltIn = (await empty.query(`select from "${name}" limit 1`)).rowCount !== 0
        const { rows } = await filled.query<{ row: object }>(`select to_json(t) as row from "${name}" t`)
        const isSingle = name === 'service_switch'
        if (rows.length > 0 && !isBuiltIn && !isSingle) recorded.push({ name, rows: rows.map(({ row }) => row) })
      }
    return recorded
  } finally {
    await Promise.all([empty.end(), filled.end()])
    await template.drop()
  }
}
