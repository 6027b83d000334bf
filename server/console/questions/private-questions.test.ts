import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { inviteCandidates } from '../../../test/support/candidate.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { type ConsoleUser, signIn, signInMember } from '../../../test/support/console.ts'
import { aCandidate, createCampaignPartner } from '../../../test/support/partners.ts'
import { insertPrivateItems } from '../../../test/support/private-items.ts'

const startSharedApp = oncePerFile(async (t) => {
  const app = await startApp(t)
  app.clock.set('2026-03-11T06:30:00.000Z') // noon in India
  return app
})

const PRIVATE_TEXT = /private question \d|(?:red|blue|grey|green) tool/i

test('only members who may edit private questions see their texts in conversations', async () => {
  const app = await startSharedApp()
  const partner = await createCampaignPartner(app)
  const { orgId } = partner
  await insertPrivateItems(app.context, orgId, { skillNumber: 1001, count: 14 })
  const { mandate_id } = await partner.createMandate(
    { channels: ['sms'] },
    { skills: [{ skill_id: 'sk_1001', verify: true }], methods: ['skill_verification', 'interest_collection'] },
  )
  const [invited] = await inviteCandidates(app, partner, mandate_id, [aCandidate(1)])
  const { candidateId } = invited!
  const base = `/orgs/${orgId}/test`
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const owner = await signInMember(app, orgId, 'owner')
  const reply = (user: ConsoleUser, content: { value: string } | { text: string }) =>
    user.post(`${base}/phone/${candidateId}/reply`, { ...content, client_id: randomUUID() })

  const consent = await reply(recruiter, { value: 'yes' })
  const question = consent.body.data.asking.at(-1)
  assert.match(question.text, /Bricklaying.*\nQuestion from your organisation's bank$/)
  assert.deepEqual(
    question.choices,
    ['0', '1', '2', '3'].map((value, index) => ({ value, label: `Option ${index + 1}` })),
  )
  // The candidate sees the question, and may type an option.
  assert.match((await invited!.page.view()).prompts.at(-1).text, PRIVATE_TEXT)
  await reply(recruiter, { text: 'take the RED tool' })
  const last = async (user: ConsoleUser) => (await user.get(`${base}/phone`)).body.data.items[0].last.text
  assert.equal(await last(recruiter), "Question from your organisation's bank")
  assert.match(await last(owner), PRIVATE_TEXT)

  const viewer = await signInMember(app, orgId, 'viewer')
  const operator = await signIn(app)
  const operatorWhoViews = await signInMember(app, orgId, 'viewer', operator.email)
  const { result_id } = (await viewer.get(`${base}/candidates/${candidateId}`)).body.data
  const paths = [
    `/candidates/${candidateId}`,
    `/phone/${candidateId}`,
    '/phone',
    '/recruiter-results',
    `/results/${result_id}`,
    `/mandates/${mandate_id}`,
    '/export/results.csv',
    '/export/responses.csv',
    '/events',
    '/questions/sk_1001',
    '/items?limit=100',
  ]
  for (const [name, user] of Object.entries({ viewer, recruiter, operator, operatorWhoViews }))
    for (const path of paths) {
      const { status, body } = await user.get(base + path)
      assert.equal(status, 200, `${name} ${path}`)
      assert.doesNotMatch(JSON.stringify(body), PRIVATE_TEXT, `${name} ${path}`)
      assert.doesNotMatch(
        JSON.stringify(body),
        /\/c\/[\w-]{20}/,
        `${name} ${path}: the candidate's page shows the question`,
      )
    }
  for (const path of [`/results/${result_id}`, '/results', `/mandates/${mandate_id}`, '/events'])
    assert.doesNotMatch(JSON.stringify((await partner.get(path)).body), PRIVATE_TEXT, path)

  const conversation = (await viewer.get(`${base}/candidates/${candidateId}`)).body.data
  const texts = conversation.messages.map(({ text }: any) => text)
  assert.ok(
    texts.some((text: string) => /organisation's bank\n\n1\. Option 1\n2\. Option 2/.test(text)),
    texts.join('\n---\n'),
  )
  const ownerView = (await owner.get(`${base}/phone/${candidateId}`)).body.data
  assert.match(ownerView.asking.at(-1).text, PRIVATE_TEXT)
  assert.match(JSON.stringify(ownerView.messages), PRIVATE_TEXT)
  assert.match(ownerView.link, /\/c\//)
})

test('built-in questions are shown to all members', async () => {
  const app = await startSharedApp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate(
    {},
    { skills: [{ skill_id: 'sk_1001', verify: true }], methods: ['skill_verification'] },
  )
  const [invited] = await inviteCandidates(app, partner, mandate_id, [aCandidate(1)])
  const { prompts } = await invited!.page.reply({ value: 'yes' })
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const { asking } = (await viewer.get(`/orgs/${partner.orgId}/test/candidates/${invited!.candidateId}`)).body.data
  assert.equal(asking.at(-1).text, prompts.at(-1).text)
})
