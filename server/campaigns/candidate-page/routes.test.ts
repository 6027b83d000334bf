import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { aCandidate, campaignPartner } from '../../../test/support/partners.ts'
import { HOUR, MINUTE } from '../../platform/clock.ts'
import { findCandidacy } from '../candidacy.ts'
import { contactNow } from '../contact/engine.ts'
import { linkOf } from './links.ts'

/** Enrols and contacts a candidate, and returns calls to the page's API with the candidate's token. */
async function visitor(app: TestApp, workflow: object = { languages: ['en', 'hi'] }, more: object = {}) {
  const partner = await campaignPartner(app)
  const { mandate_id } = await partner.mandate(workflow)
  await partner.campaign(mandate_id, [aCandidate(1, more)])
  await contactNow(app.context)
  const result = async () => (await partner.get('/results')).body.data.items[0]
  const { candidate } = await result()
  const link = linkOf(app.context, (await findCandidacy(app.context.db.queries, candidate.candidate_id))!)
  const base = `/api/v1/candidate/${link.split('/').at(-1)}`
  let replies = 0
  const post = (path: string, body: object) =>
    app.fetch(base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    ...partner,
    result,
    base,
    view: () => app.fetch(base),
    reply: (step: number, content: object, client_id = `c${++replies}`) =>
      post('/reply', { step, client_id, ...content }),
    setLanguage: (language: string) => post('/language', { language }),
  }
}

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  return { app }
}

test('a candidate completes the conversation and changes the language midway', async () => {
  const { app } = await setUp()
  const { view, reply, setLanguage, result } = await visitor(app)
  const first = await view()
  assert.equal(first.status, 200)
  assert.equal(first.headers.get('cache-control'), 'no-store')
  const { past, prompts, labels, ...rest } = first.body.data
  assert.deepEqual(rest, {
    name: 'Person 1',
    company: 'Metro Ltd',
    title: 'Electrician',
    language: 'en',
    languages: [
      { code: 'en', name: 'English' },
      { code: 'hi', name: 'हिन्दी' },
    ],
    step: 1,
    progress: { done: 0, total: 12 },
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

test('a duplicate reply counts once, concurrently or later', async () => {
  const { app } = await setUp()
  const { reply, result } = await visitor(app, {})
  const taps = await Promise.all(Array.from({ length: 5 }, () => reply(1, { value: 'yes' }, 'tap')))
  assert.deepEqual(
    taps.map(({ status, body }) => [status, body.data.step]),
    Array(5).fill([200, 2]),
  )
  const { version } = await result()
  const late = await reply(1, { value: 'no' })
  assert.equal(late.body.data.step, 2)
  assert.equal((await result()).version, version)
})

test('STOP ends the conversation permanently', async () => {
  const { app } = await setUp()
  const { reply, result, view } = await visitor(app, {})
  assert.equal((await reply(1, { value: 'stop' })).body.data.status, 'ended')
  await reply(2, { value: 'yes' })
  const { status, reason } = await result()
  assert.deepEqual([status, reason, (await view()).body.data.status], ['declined', 'stopped', 'ended'])
})

test('the page of an archived campaign is closed', async () => {
  const { app } = await setUp()
  const { view, reply, get, remove } = await visitor(app, {})
  const { campaign_id } = (await get('/campaigns')).body.data.items[0]
  await remove(`/campaigns/${campaign_id}`)
  assert.equal((await reply(1, { value: 'yes' })).body.data.status, 'closed')
  assert.equal((await view()).body.data.prompts[0].kind, 'notice')
})

test('unknown links and invalid bodies are rejected', async () => {
  const { app } = await setUp()
  const { base } = await visitor(app, {})
  const bodies = await Promise.all(
    ['x', 'A'.repeat(43), `${base.split('/').at(-1)!.slice(0, -1)}!`].map((token) =>
      app.fetch(`/api/v1/candidate/${token}`),
    ),
  )
  for (const { status, body } of bodies) assert.deepEqual([status, body], [404, bodies[0]!.body])
  const post = (body: string) =>
    app.fetch(`${base}/reply`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  for (const body of ['{', '{}', '{"step":1,"client_id":"a","more":1}', '{"step":0,"client_id":"a"}'])
    assert.equal((await post(body)).status, 400, body)
  assert.equal((await post('{"step":1,"client_id":"a"}')).status, 200) // an empty reply is not understood
})

test('requests are rate limited by link and by address', async () => {
  const { app } = await setUp()
  const { view, base } = await visitor(app, {})
  const responses = await Promise.all(Array.from({ length: 30 }, view))
  const limited = responses.filter(({ status }) => status === 429)
  assert.ok(limited.length >= 5)
  assert.ok(Number(limited[0]!.headers.get('retry-after')) >= 1)
  app.clock.advance(MINUTE)
  assert.equal((await app.fetch(base)).status, 200)
  const guesses = await Promise.all(Array.from({ length: 70 }, (_, at) => app.fetch(`/api/v1/candidate/guess${at}`)))
  assert.ok(guesses.some(({ status }) => status === 429))
  app.clock.advance(HOUR) // resets the limits of the address for other tests
})

test('tokens are not logged', async () => {
  const { app } = await setUp()
  const { base } = await visitor(app, {})
  await app.fetch(base)
  const token = base.split('/').at(-1)!
  assert.ok(!app.logged.some((line) => line.includes(token)))
})
