import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { aCandidate, createCampaignPartner } from '../../../test/support/partners.ts'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { findCandidacy } from '../candidacy.ts'
import { contactNow } from '../contact/engine.ts'
import { candidatePageUrl } from './links.ts'

/** Enrols and contacts a candidate, and returns calls to the page's API with the candidate's token. */
async function contactCandidate(
  app: TestApp,
  workflow: object = { languages: ['en', 'hi'] },
  candidateFields: object = {},
) {
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate(workflow)
  await partner.createCampaign(mandate_id, [aCandidate(1, candidateFields)])
  await contactNow(app.context)
  const result = async () => (await partner.get('/results')).body.data.items[0]
  const { candidate } = await result()
  const link = candidatePageUrl(app.context, (await findCandidacy(app.context.db.queries, candidate.candidate_id))!)
  const basePath = `/api/v1/candidate/${link.split('/').at(-1)}`
  let replies = 0
  const post = (path: string, body: object) =>
    app.fetch(basePath + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    ...partner,
    result,
    base: basePath,
    view: () => app.fetch(basePath),
    reply: (step: number, content: object, client_id = `c${++replies}`) =>
      post('/reply', { step, client_id, ...content }),
    setLanguage: (language: string) => post('/language', { language }),
  }
}

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  return { app }
}

test('a candidate completes the conversation and changes the language midway', async () => {
  const { app } = await setUp()
  const { view, reply, setLanguage, result } = await contactCandidate(app)
  const firstView = await view()
  assert.equal(firstView.status, 200)
  assert.equal(firstView.headers.get('cache-control'), 'no-store')
  const { past, prompts, labels, ...otherFields } = firstView.body.data
  assert.deepEqual(otherFields, {
    name: 'Person 1',
    company: 'Metro Ltd',
    title: 'Electrician',
    language: 'en',
    languages: [
      { code: 'en', name: 'English' },
      { code: 'hi', name: 'हिन्दी' },
    ],
    step: 1,
    progress: { done: 0, total: 15 }, // two enrichment questions, at least four about each of three skills, interest
    status: 'open',
    ending: null,
    ahead: [], // no questions before consent
  })
  assert.equal(labels.send, 'Send')
  assert.equal(prompts.at(-1).kind, 'yes_no')
  assert.deepEqual(past, [])
  let { data } = (await reply(1, { value: 'yes' })).body
  ;({ data } = (await reply(data.step, { value: 'en' })).body)
  assert.equal(data.prompts[0].text, 'Do you hold a wireman licence?')
  const stepBefore = data.step
  ;({ data } = (await setLanguage('hi')).body)
  assert.deepEqual([data.language, data.step], ['hi', stepBefore])
  ;({ data } = (await reply(data.step, { text: 'हाँ' })).body)
  assert.equal(data.progress.done, 1)
  ;({ data } = (await reply(data.step, { text: 'अगले हफ़्ते' })).body)
  while (data.prompts.at(-1).kind === 'choices') {
    assert.equal(data.prompts.at(-1).choices.length, 4)
    assert.doesNotMatch(JSON.stringify(data), /"key"|item_id|knockout/)
    app.clock.advance(5 * SECOND) // so that the rate limit of the link is not reached
    ;({ data } = (await reply(data.step, { value: '0' })).body)
  }
  ;({ data } = (await reply(data.step, { value: 'yes' })).body)
  assert.deepEqual([data.status, data.progress.done], ['ended', data.progress.total])
  const { status, output } = await result()
  assert.deepEqual([status, output.language, output.channel], ['completed', 'hi', 'whatsapp'])
  assert.equal(output.enrichment.notice.answer, 'अगले हफ़्ते')
  assert.deepEqual(
    data.past.slice(0, 4).map(({ answer }: any) => answer),
    ['Yes', 'English', 'हाँ', 'अगले हफ़्ते'],
  )
  assert.equal(data.past[2].asked, 'Do you hold a wireman licence?')
  assert.deepEqual((await view()).body.data, data)
})

test('1 is yes and 2 is no in a written reply', async () => {
  const { app } = await setUp()
  const [consenting, refusing] = [await contactCandidate(app, {}), await contactCandidate(app, {})]
  const { data } = (await consenting.reply(1, { text: '1' })).body
  assert.deepEqual([data.status, data.prompts[0].text], ['open', 'Do you hold a wireman licence?'])
  assert.equal((await refusing.reply(1, { text: '2' })).body.data.status, 'ended')
  assert.deepEqual([(await refusing.result()).status, (await refusing.result()).reason], ['declined', 'refused'])
})

test('the page offers "not now", says when the candidate is contacted again, and the candidate can continue before', async () => {
  const { app } = await setUp()
  app.clock.set('2026-03-11T06:30:00Z') // noon in India
  const { view, reply, result } = await contactCandidate(app, { languages: ['en'] })
  assert.deepEqual(
    (await view()).body.data.prompts[0].choices.map(({ label }: any) => label),
    ['Yes', 'No', 'Not now'],
  )
  let { data } = (await reply(1, { value: 'later' })).body
  assert.deepEqual(
    [data.prompts[0].text, data.prompts[0].ask, data.prompts[0].back],
    ['When may we contact you again?', 'later', true],
  )
  ;({ data } = (await reply(data.step, { value: 'back' })).body)
  assert.deepEqual([data.prompts[0].ask, data.past], ['consent', []])
  ;({ data } = (await reply(data.step, { value: 'later' })).body)
  ;({ data } = (await reply(data.step, { value: 'tomorrow' })).body)
  assert.match(data.prompts[0].text, /contact you again tomorrow/)
  assert.match(data.prompts[1].text, /May we ask you/)
  assert.deepEqual(
    data.past.map(({ answer }: any) => answer),
    ['Not now', 'Tomorrow'],
  )
  app.clock.set('2026-03-12T05:00:00Z')
  assert.match((await view()).body.data.prompts[0].text, /contact you again later today/)
  app.clock.set('2026-03-12T06:30:00Z')
  await contactNow(app.context)
  assert.deepEqual(
    (await view()).body.data.prompts.map(({ ask }: any) => ask),
    ['consent'],
  )
  ;({ data } = (await reply(data.step, { value: 'yes' })).body)
  assert.equal(data.prompts[0].text, 'Do you hold a wireman licence?')
  assert.equal((await result()).status, 'pending')
})

test('a duplicate reply counts once, concurrently or later', async () => {
  const { app } = await setUp()
  const { reply, result } = await contactCandidate(app, {})
  const responses = await Promise.all(Array.from({ length: 5 }, () => reply(1, { value: 'yes' }, 'tap')))
  assert.deepEqual(
    responses.map(({ status, body }) => [status, body.data.step]),
    Array(5).fill([200, 2]),
  )
  const { version } = await result()
  const lateResponse = await reply(1, { value: 'no' })
  assert.equal(lateResponse.body.data.step, 2)
  assert.equal((await result()).version, version)
})

test('STOP ends the conversation permanently', async () => {
  const { app } = await setUp()
  const { reply, result, view } = await contactCandidate(app, {})
  assert.equal((await reply(1, { value: 'stop' })).body.data.status, 'ended')
  await reply(2, { value: 'yes' })
  const { status, reason } = await result()
  assert.deepEqual([status, reason, (await view()).body.data.status], ['declined', 'stopped', 'ended'])
})

test('the page of an archived campaign has expired, and accepts only an opt-out', async () => {
  const { app } = await setUp()
  const { view, reply, get, remove } = await contactCandidate(app, {})
  const { campaign_id } = (await get('/campaigns')).body.data.items[0]
  await remove(`/campaigns/${campaign_id}`)
  for (const { status, body } of [await reply(1, { value: 'yes' }), await view()])
    assert.deepEqual([status, body.error.code], [410, 'LINK_EXPIRED'])
  assert.equal((await reply(1, { value: 'stop' })).status, 200)
})

test('unknown links and invalid bodies are rejected', async () => {
  const { app } = await setUp()
  const { base } = await contactCandidate(app, {})
  const responses = await Promise.all(
    ['x', 'A'.repeat(43), `${base.split('/').at(-1)!.slice(0, -1)}!`].map((token) =>
      app.fetch(`/api/v1/candidate/${token}`),
    ),
  )
  for (const { status, body } of responses) {
    const { requestId: _, docUrl: __, ...error } = body.error
    assert.deepEqual([status, error], [404, { code: 'NOT_FOUND', message: 'This link is not valid.' }])
  }
  const post = (body: string) =>
    app.fetch(`${base}/reply`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  for (const body of ['{', '{}', '{"step":1,"client_id":"a","more":1}', '{"step":0,"client_id":"a"}'])
    assert.equal((await post(body)).status, 400, body)
  assert.equal((await post('{"step":1,"client_id":"a"}')).status, 200) // an empty reply is not understood
})

test('requests are rate limited by link and by address', async () => {
  const { app } = await setUp()
  const { view, base } = await contactCandidate(app, {})
  const responses = await Promise.all(Array.from({ length: 30 }, view))
  const limitedResponses = responses.filter(({ status }) => status === 429)
  assert.ok(limitedResponses.length >= 5)
  assert.ok(Number(limitedResponses[0]!.headers.get('retry-after')) >= 1)
  app.clock.advance(MINUTE)
  assert.equal((await app.fetch(base)).status, 200)
  const guessResponses = await Promise.all(
    Array.from({ length: 70 }, (_, index) => app.fetch(`/api/v1/candidate/guess${index}`)),
  )
  assert.ok(guessResponses.some(({ status }) => status === 429))
  app.clock.advance(HOUR) // resets the limits of the address for other tests
})

test('tokens are not logged', async () => {
  const { app } = await setUp()
  const { base } = await contactCandidate(app, {})
  await app.fetch(base)
  const token = base.split('/').at(-1)!
  assert.ok(!app.logLines.some((line) => line.includes(token)))
})
