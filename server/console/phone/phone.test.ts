import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { prepareMandates, startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { aCandidate, createCampaignPartner } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'
import type { CandidateMessage } from '../../campaigns/contact/messages.ts'
import { grantCredits } from '../../campaigns/credits.ts'
import { linkLine } from '../../channels/message-text.ts'
import { previewMessages } from './message-preview.ts'

test('a recruiter creates a workflow, a mandate and a campaign, and replies as the candidate', async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock) // rate limits use this clock
  const { orgId } = await app.fixtures.createOrg()
  const { context, clock } = app
  await context.db.transaction((tx) => grantCredits(tx, { orgId, mode: 'test' }, clock, 100))
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const base = `/orgs/${orgId}/test`

  const workflow = await recruiter.post(`${base}/workflows`, { name: 'Site hiring', channels: ['whatsapp', 'sms'] })
  assert.equal(workflow.status, 201)
  assert.equal(workflow.body.data.created_via, 'playground')
  const mandate = await recruiter.post(`${base}/mandates`, {
    workflow_id: workflow.body.data.workflow_id,
    title: 'Electrician',
    company_name: 'Metro Ltd',
    location: { city: 'Pune', state: 'Maharashtra', pincode: '411001' },
    methods: ['data_enrichment', 'interest_collection'],
    skills: [{ skill_id: 'sk_2001' }],
    enrichment_questions: [{ key: 'licence', type: 'yes_no', text: 'Do you hold a wireman licence?' }],
  })
  assert.equal(mandate.status, 202, JSON.stringify(mandate.body))
  await prepareMandates(context)
  const campaignInput = {
    mandate_id: mandate.body.data.mandate_id,
    candidates: [{ external_candidate_id: 'c-1', name: 'Asha Rao', phone: '+919812345678' }],
  }
  const campaign = await recruiter.post(`${base}/campaigns`, campaignInput, { 'idempotency-key': randomUUID() })
  assert.equal(campaign.status, 202, JSON.stringify(campaign.body))
  const { campaign_id } = campaign.body.data.campaign

  let phones: any[] = []
  await until(async () => {
    phones = (await recruiter.get(`${base}/phone?campaign_id=${campaign_id}`)).body.data.items
    return phones[0]?.last !== null
  })
  assert.equal(phones.length, 1)
  assert.equal(phones[0].name, 'Asha Rao')
  assert.equal(phones[0].last.channel, 'whatsapp')
  const path = `${base}/phone/${phones[0].candidate_id}`
  for (let attemptsLeft = 10; attemptsLeft > 0; attemptsLeft--) {
    const { body } = await recruiter.get(path)
    const prompt = body.data.asking.at(-1)
    if (!prompt) break
    const content = prompt.choices.length > 0 ? { value: prompt.choices[0].value } : { text: 'Next week.' }
    const replyResponse = await recruiter.post(`${path}/reply`, {
      ...content,
      step: prompt.step,
      client_id: randomUUID(),
    })
    assert.equal(replyResponse.status, 200, JSON.stringify(replyResponse.body))
    if (replyResponse.body.data.status !== 'pending') break
  }
  const result = await recruiter.get(`${base}/results/${phones[0].result_id}`)
  assert.equal(result.body.data.status, 'completed')
  assert.equal(result.body.data.output.interest, 'interested')
  // The link gives access without signing in, so viewers do not get it.
  const viewer = await signInMember(app, orgId, 'viewer')
  const candidatePath = path.replace('/phone/', '/candidates/')
  for (const candidateUrl of [path, candidatePath]) {
    assert.match((await recruiter.get(candidateUrl)).body.data.link, /\/c\/[\w-]{40,}$/)
    const response = await viewer.get(candidateUrl)
    assert.deepEqual([response.status, response.body.data.link], [200, null])
    assert.doesNotMatch(JSON.stringify(response.body), /\/c\//)
  }
  assert.equal((await viewer.post(`${path}/reply`, { text: 'hello', client_id: 'v' })).status, 403)
  const { body } = await recruiter.get(path)
  assert.deepEqual([body.data.next_contact_at, body.data.asking], [null, []])
  assert.deepEqual(
    body.data.messages.map((message: any) => `${message.direction} ${message.channel} ${message.state}`).slice(0, 2),
    ['out whatsapp delivered', 'in whatsapp received'],
  )
  assert.equal(body.data.messages[1].text, 'Yes')
  assert.equal((await recruiter.post(`${path}/reply`, { text: 'hello', client_id: 'x' })).status, 409)
  assert.equal((await recruiter.get(`/orgs/${orgId}/live/phone`)).status, 404)

  const csv = await recruiter.get(`${base}/export/results.csv?campaign_id=${campaign_id}`)
  assert.match(csv.headers.get('content-type')!, /text\/csv/)
  assert.match(csv.body, /Asha Rao,\+919812345678,,completed,,true,interested/)
})

test('the text of a message is shown in the language that the candidate had chosen by then', () => {
  const link = 'https://example.com/c/token'
  const question = [{ step: 2, kind: 'words' as const, text: 'When?', choices: [] }]
  const messages = [
    { direction: 'out', channel: 'sms', content: question },
    { direction: 'in', channel: 'sms', content: { value: 'hi' } },
    { direction: 'out', channel: 'sms', content: question },
  ] as CandidateMessage[]
  const [first, reply, second] = previewMessages(messages, {
    languages: ['en', 'hi'],
    language: 'en',
    link,
    unsubscribeUrl: '',
  })
  assert.equal(reply, null)
  assert.ok(first!.endsWith(linkLine({ language: 'en', link })), first!)
  assert.ok(second!.endsWith(linkLine({ language: 'hi', link })), second!)
})

test('the list of phones is searched by name, phone number and external ID, and skips erased people', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const { campaign } = await partner.createCampaign(mandate_id, [
    aCandidate(1, { name: 'Asha Rao' }),
    aCandidate(2, { name: 'Asha Verma' }),
    aCandidate(3, { name: 'Ravi Menon' }),
  ])
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const search = async (q: string, more = '') => {
    const path = `/orgs/${partner.orgId}/test/phone?q=${encodeURIComponent(q)}${more}`
    const { status, body } = await viewer.get(path)
    assert.equal(status, 200, JSON.stringify(body))
    return body.data.items.map(({ name }: any) => name).sort()
  }
  assert.deepEqual(await search('asha'), ['Asha Rao', 'Asha Verma'])
  assert.deepEqual(await search('ext-3'), ['Ravi Menon'])
  assert.deepEqual(await search('asha', `&campaign_id=${campaign.campaign_id}`), ['Asha Rao', 'Asha Verma'])
  assert.deepEqual(await search('nobody'), [])

  // The newest candidate is searched first.
  const phones = (await viewer.get(`/orgs/${partner.orgId}/test/phone`)).body.data.items
  const newest = phones[0]
  const { rows } = await app.context.db.pool.query('select person_id from candidates where candidate_id = $1', [
    newest.candidate_id,
  ])
  const erased = await partner.post(`/people/${rows[0].person_id}/erase`, {
    basis: 'GDPR Article 17',
    requested_by: 'data subject',
  })
  assert.equal(erased.status, 200, JSON.stringify(erased.body))
  const others = phones.slice(1).map(({ name }: any) => name)
  for (const name of others) assert.deepEqual(await search(name), [name])
  assert.deepEqual(await search(newest.name), [])
})
