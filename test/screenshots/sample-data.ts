import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { changeOrigins } from '../../server/embeds/allowed-origins.ts'
import { listEmails } from '../../server/mail/mail.ts'
import { suppressMailbox } from '../../server/mail/suppressions.ts'
import { DAY, MINUTE } from '../../server/platform/clock.ts'
import { readBlocks } from '../contract/code-blocks.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { connectAts } from '../support/ats/connection.ts'
import { type candidatePage, inviteCandidates } from '../support/candidate.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { runClock, TestClock } from '../support/clock.ts'
import { signInMember } from '../support/console.ts'
import { issueCredential } from '../support/issued-credentials.ts'
import { type CampaignPartner, createCampaignPartner, passTime } from '../support/partners.ts'
import { aStudent, BRICKLAYING, expectOk, PLASTERING, plantRing, verificationCalls } from '../support/verification.ts'
import { yourDataCalls } from '../support/your-data.ts'

/** The pages of people without an account, by name. */
type PublicLink =
  | 'candidate'
  | 'candidate-hindi'
  | 'candidate-question'
  | 'candidate-closed'
  | 'student-notice'
  | 'student-skills'
  | 'student-method'
  | 'student-assessment'
  | 'student-result'
  | 'reviewer'
  | 'your-data'
  | 'credential'
  | 'my-credentials'
  | 'report'
  | 'embed'

export interface SampleData {
  app: TestApp
  /** Organisations with no, little and much data. */
  orgs: { none: string; little: string; much: string }
  /** Address of an owner of all three organisations. */
  ownerEmail: string
  /** Values of the parameters in paths of the console, of the organisation with little data. */
  parameters: Record<string, string>
  links: Record<PublicLink, string>
}

const OWNER_EMAIL = 'priya@sample-staffing.example'
const START_TIME = '2026-03-03T06:30:00.000Z'
const NAMES = [
  'Asha Rao',
  'Imran Khan',
  'Kavita Singh',
  'Suresh Patil',
  'Meena Das',
  'Joseph Mathew',
  'Farida Begum',
  'Gurpreet Gill',
  'Lakshmi Nair',
  'Rakesh Yadav',
  'Nikhil Joshi',
]
const JOBS = [
  ['Electrician', 'Example Metro Ltd', 'Pune', 'Maharashtra', '411001'],
  ['Wireman', 'Example Power', 'Indore', 'Madhya Pradesh', '452001'],
  ['Site electrician', 'Sample Housing', 'Surat', 'Gujarat', '395003'],
  ['Maintenance electrician', 'Sample Textiles', 'Nagpur', 'Maharashtra', '440001'],
] as const

/** Starts a server with sample organisations, whose members, candidates and students are invented. */
export async function startSampleServer(t: Cleanup, { withMuchData = true } = {}): Promise<SampleData> {
  const app = await startApp(t, { clock: new TestClock(START_TIME) })
  const none = (await app.fixtures.createOrg('New Example Org')).orgId
  const much = (await app.fixtures.createOrg('Large Example Org')).orgId
  if (withMuchData) await fillLargeOrganisation(app, much)
  const little = (await app.fixtures.createOrg('Sample Staffing')).orgId
  const { parameters, links } = await fillOrganisation(t, app, little)
  runClock(t, app.clock) // or rate limits would never be reset
  for (const orgId of [none, much]) await signInMember(app, orgId, 'owner', OWNER_EMAIL)
  return { app, orgs: { none, little, much }, ownerEmail: OWNER_EMAIL, parameters, links }
}

async function fillOrganisation(
  t: Cleanup,
  app: TestApp,
  orgId: string,
): Promise<Pick<SampleData, 'parameters' | 'links'>> {
  const partner = await createCampaignPartner(app, { orgId })
  await signInMember(app, orgId, 'recruiter', 'rohan@sample-staffing.example')
  await signInMember(app, orgId, 'viewer', 'meera@sample-staffing.example')
  const { workflow_id } = await app.fixtures.createWorkflow(
    partner.scope,
    {
      name: 'Site hiring',
      description: 'WhatsApp first, then a text message after a day.',
      channels: ['whatsapp', 'sms'],
      languages: ['en', 'hi'],
      follow_ups: [{ after_hours: 24, channel: 'sms' }],
    },
    'playground',
  )
  const campaigns = []
  for (const job of JOBS.slice(0, 3)) {
    const { mandate_id } = await createJob(app, partner, workflow_id, job)
    const { campaign } = await partner.createCampaign(mandate_id, phoneCandidates(), {
      name: `${job[0]}, ${job[2]}`,
    })
    await passTime(app, 9000)
    app.clock.advance(DAY)
    campaigns.push({ mandate_id, campaign_id: campaign.campaign_id as string })
  }
  const { mandate_id, campaign_id } = campaigns[0]!
  const results = (await partner.get('/results?limit=100')).body.data.items as {
    result_id: string
    campaign_id: string
    candidate: { candidate_id: string; name: string }
  }[]
  const result = results.find((each) => each.campaign_id === campaign_id && each.candidate.name === NAMES[0])!
  const { candidate_id } = result.candidate
  const owner = await signInMember(app, orgId, 'owner', OWNER_EMAIL)
  const base = `/orgs/${orgId}/test`
  await expectOk(
    owner.put(`/orgs/${orgId}/privacy`, {
      grievance_name: 'Meera Nair',
      grievance_email: 'grievance@sample-staffing.example',
      privacy_email: 'privacy@sample-staffing.example',
    }),
  )
  await recordDecisions(
    owner,
    orgId,
    results.filter((each) => each.campaign_id === campaign_id).map((each) => each.candidate),
  )
  const webhook = await expectOk(partner.post('/webhooks', { url: 'https://ats.sample-staffing.example/hooks' }))
  const { connectionId } = await connectAts(app, partner.scope, 'workable', {
    input: { name: 'Workable, head office' },
  })
  const question = await expectOk(owner.post(`${base}/questions/sk_2001`, OWN_QUESTION))
  const people = await app.context.db.queries
    .selectFrom('candidates')
    .select('person_id')
    .where('candidate_id', '=', candidate_id)
    .executeTakeFirstOrThrow()
  const report = await expectOk(owner.post(`${base}/candidates/${candidate_id}/report-links`, { days: 30 }))

  const candidates = await inviteCandidatesToPages(app, partner, mandate_id)
  const { verificationId, links } = await createVerifications(app, orgId)
  const [email] = await listEmails(app.context.db.queries, { limit: 1 })
  await app.context.db.transaction((tx) =>
    suppressMailbox(tx, app.context, { address: 'former@example.com', audience: 'all', reason: 'bounced' }),
  )
  const ring = await app.context.db.queries.selectFrom('endorsement_rings').select('ring_id').executeTakeFirstOrThrow()
  return {
    parameters: {
      workflow_id,
      mandate_id,
      campaign_id,
      candidate_id,
      result_id: result.result_id,
      skill_id: 'sk_2001',
      item_id: question.body.data.item_id,
      verification_id: verificationId,
      connection_id: connectionId,
      webhook_id: webhook.body.data.webhook_id,
      person_id: people.person_id!,
      mail_id: email!.mail_id,
      ring_id: ring.ring_id,
    },
    links: {
      ...candidates,
      ...links,
      report: report.body.data.url,
      embed: await startEmbeddingWebsite(t, app, partner, result.result_id),
    },
  }
}

const SAMPLE_EXPERIENCE = {
  workExperiences: [
    {
      externalExperienceId: 'w-1',
      companyName: 'Example Metro Ltd',
      role: 'Mason',
      startDate: '2023-01',
      endDate: '2024-06',
    },
  ],
}

const OWN_QUESTION = {
  kind: 'tool',
  difficulty: 2,
  texts: [
    {
      language: 'en',
      stem: 'A breaker trips each time a heater is switched on. What do you check first?',
      options: ['The load on the circuit', 'The colour of the wire', 'The height of the socket', 'The age of the lamp'],
    },
  ],
}

/** Decides on some candidates, and assigns some of them to the owner. */
async function recordDecisions(
  owner: Awaited<ReturnType<typeof signInMember>>,
  orgId: string,
  candidates: { candidate_id: string; name: string }[],
): Promise<void> {
  const base = `/orgs/${orgId}/test/recruiter-results`
  const idsOf = (...names: string[]) =>
    candidates.filter(({ name }) => names.includes(name)).map(({ candidate_id }) => candidate_id)
  const [asha, imran, kavita, suresh] = NAMES as [string, string, string, string, ...string[]]
  const { items } = (await expectOk(owner.get(`/orgs/${orgId}/members`))).body.data
  const { member_id } = items.find(({ email }: { email: string }) => email === OWNER_EMAIL)
  await expectOk(owner.get(base)) // new candidates are copied to the list when it is read
  const note = 'Can start next week. Call after 5 pm.'
  await expectOk(owner.post(`${base}/decisions`, { candidate_ids: idsOf(asha), decision: 'shortlisted', note }))
  await expectOk(owner.post(`${base}/decisions`, { candidate_ids: idsOf(imran, kavita), decision: 'rejected' }))
  await expectOk(owner.post(`${base}/assignments`, { candidate_ids: idsOf(asha, suresh), member_id }))
}

const QUESTIONS = [
  {
    key: 'licence',
    type: 'yes_no' as const,
    text: 'Do you hold a wireman licence?',
    translations: { hi: 'क्या आपके पास वायरमैन का लाइसेंस है?' },
    knockout: 'no' as const,
  },
  {
    key: 'notice',
    type: 'voice' as const,
    text: 'When can you start?',
    translations: { hi: 'आप कब से काम शुरू कर सकते हैं?' },
    required: false,
  },
]

function createJob(
  app: TestApp,
  { scope }: CampaignPartner,
  workflow_id: string,
  [title, company_name, city, state, pincode]: (typeof JOBS)[number],
) {
  const location = { city, state, pincode }
  const salary = { min: 18_000, max: 26_000 }
  const input = { workflow_id, title, company_name, location, salary, enrichment_questions: QUESTIONS }
  return app.fixtures.createMandate(scope, input, 'playground')
}

/** Returns candidates with the test numbers, which reply automatically. */
function phoneCandidates(): object[] {
  return NAMES.map((name, index) => ({
    external_candidate_id: `APP-${100 + index}`,
    name,
    phone: `+9199900000${String(index + 1).padStart(2, '0')}`,
  }))
}

async function inviteCandidatesToPages(app: TestApp, partner: CampaignPartner, mandateId: string) {
  const people = ['Asha Verma', 'आशा वर्मा', 'Ravi Menon', 'Anil Shah'].map((name, index) => ({
    external_candidate_id: `WEB-${index}`,
    name,
    phone: `+9198100000${10 + index}`,
    email: `web-${index}@example.com`,
    ...(index === 1 ? { language: 'hi' } : {}),
  }))
  const [first, hindi, third, last] = await inviteCandidates(app, partner, mandateId, people)
  await answerUntilSkills(hindi!.page, [{ value: 'yes' }, { value: 'yes' }, { text: 'अगले सोमवार से' }])
  await answerUntilSkills(third!.page, [{ value: 'yes' }, { value: 'en' }, { value: 'yes' }, { text: 'Next Monday' }])
  const url = (token: string) => `${app.url}/c/${token}`
  return {
    candidate: url(first!.token),
    'candidate-hindi': url(hindi!.token),
    'candidate-question': url(third!.token),
    'candidate-closed': `${app.url}/c/${'x'.repeat(22)}`,
    'your-data': `${app.url}/your-data/candidate#token=${last!.token}`,
  }
}

async function answerUntilSkills(
  page: ReturnType<typeof candidatePage>,
  replies: ({ value: string } | { text: string })[],
): Promise<void> {
  await page.view()
  for (const reply of replies) await page.reply(reply)
}

async function createVerifications(app: TestApp, orgId: string) {
  const api = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
  const studentUrl = (token: string) => `${app.url}/session#token=${token}`
  const student = (number: number) =>
    aStudent({ externalStudentId: `stu-${number}`, email: `student-${number}@example.com`, ...SAMPLE_EXPERIENCE })
  const unread = await api.openSession(student(1))
  const opened = await api.openSession(student(2))
  const chosen = await api.openSession(student(3))
  await expectOk(api.storeSkills(chosen))
  app.clock.advance(MINUTE)
  const assessed = await api.openPreparedSession('assessment', { student: student(4) })
  const { session, url, holderToken } = await issueCredential(api, { student: student(5), showName: true })
  for (const { token } of [opened, chosen, assessed, session])
    await expectOk(yourDataCalls(app, 'session', token).agree())
  app.clock.advance(MINUTE)
  const skills = [{ skillId: BRICKLAYING, proofUrl: ['https://example.com/wall'] }, PLASTERING]
  const waiting = await api.requestReview({
    student: student(6),
    skills,
    reviewer: { name: 'Ravi Menon', email: 'ravi@example.com', company: 'Example Metro Ltd' },
  })
  const [reviewEmail] = await api.listEmails(waiting.session)
  const ringOrg = await app.fixtures.createOrg('Example College')
  await plantRing(verificationCalls(app, ringOrg.orgId, await app.fixtures.createSessionKey(ringOrg.orgId)))
  return {
    verificationId: waiting.session.id,
    links: {
      'student-notice': studentUrl(unread.token),
      'student-skills': studentUrl(opened.token),
      'student-method': studentUrl(chosen.token),
      'student-assessment': studentUrl(assessed.token),
      'student-result': studentUrl(session.token),
      reviewer: /https?:\/\/\S+#token=\S+/.exec(reviewEmail!.text)![0],
      credential: url,
      'my-credentials': `${app.url}/my-credentials#token=${holderToken}`,
    },
  }
}

/** Starts a website that shows a report in a frame. The URL of a session can be opened once, so each visit creates a session. */
async function startEmbeddingWebsite(t: Cleanup, app: TestApp, partner: CampaignPartner, resultId: string) {
  const [{ text: html } = { text: '' }] = readBlocks('docs/guides/embed-pages.md', ['html'])
  const server = createServer(async (_request, response) => {
    const session = await expectOk(partner.post(`/results/${resultId}/embed-sessions`, { origin }))
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      html.replace('https://attestry.example.com', app.url).replace('URL_OF_THE_SESSION', session.body.data.url),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  // Another host than that of the server, so that the frame is on another site.
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  await app.context.db.transaction((tx) => changeOrigins(tx, app.clock, partner.scope, [origin]))
  return origin
}

async function fillLargeOrganisation(app: TestApp, orgId: string): Promise<void> {
  const partner = await createCampaignPartner(app, { orgId, credits: 5000 })
  const workflows = []
  for (let number = 1; number <= 12; number++)
    workflows.push(
      await app.fixtures.createWorkflow(partner.scope, { name: `Site hiring ${number}`, channels: ['email'] }),
    )
  for (let number = 0; number < 40; number++) {
    const { workflow_id } = workflows[number % workflows.length]!
    const { mandate_id } = await createJob(app, partner, workflow_id, JOBS[number % JOBS.length]!)
    await partner.createCampaign(mandate_id, emailCandidates(number, number === 0 ? 90 : 4), {
      name: `Intake ${number + 1}`,
    })
  }
  await passTime(app, 9000)
  app.clock.advance(DAY)
}

/** Returns candidates with test addresses, which reply automatically. */
function emailCandidates(campaign: number, count: number): object[] {
  return Array.from({ length: count }, (_, index) => {
    const persona = String((index % NAMES.length) + 1).padStart(2, '0')
    const tag = `${campaign}-${index}`
    return {
      external_candidate_id: tag,
      name: `${NAMES[index % NAMES.length]} ${Math.floor(index / NAMES.length) + 1}`,
      email: `candidate-${persona}+${tag}@test.attestry.example`,
    }
  })
}
