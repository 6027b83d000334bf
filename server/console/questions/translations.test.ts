import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AiResponder,
  neverRespond,
  type ReceivedAiCall,
  respondWithCompletion,
  respondWithError,
  startAiEndpoint,
} from '../../../test/support/ai-endpoint.ts'
import { prepareMandates, startApp } from '../../../test/support/app.ts'
import type { Cleanup } from '../../../test/support/cleanup.ts'
import { signInMember } from '../../../test/support/console.ts'
import { createPartner } from '../../../test/support/partners.ts'
import { systemClock } from '../../platform/clock.ts'
import { AiWriter } from '../../questions/ai/writer.ts'

/** Translates every text into Hindi and Tamil by adding the name of the language. */
const translate = respondWithCompletion((call: ReceivedAiCall) => {
  const languages = Object.keys((call.body.response_format.json_schema.schema as any).properties)
  return Object.fromEntries(
    languages.map((language) => [language, call.data.texts.map((text) => `${language}: ${text}`)]),
  )
})

async function setUp(t: Cleanup, ...responders: AiResponder[]) {
  const endpoint = await startAiEndpoint(t, ...responders)
  const app = await startApp(t, {
    config: { ai: { baseUrl: endpoint.baseUrl, apiKey: 'secret-key', model: 'some-model' } },
  })
  const { orgId } = await app.fixtures.createOrg()
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const path = `/orgs/${orgId}/test/question-translations`
  return { app, orgId, recruiter, path, calls: endpoint.calls }
}

const REQUEST = { texts: ['Do you hold a licence?', 'When can you start?'], to: ['hi', 'ta'] }

test('the AI writer suggests translations over HTTP, and they are not stored', async (t) => {
  const { recruiter, path, calls } = await setUp(t, translate)
  assert.deepEqual((await recruiter.get(path)).body.data, { available: true })
  const { status, body } = await recruiter.post(path, REQUEST)
  assert.equal(status, 200)
  assert.deepEqual(body.data, {
    translations: [
      { language: 'hi', texts: ['hi: Do you hold a licence?', 'hi: When can you start?'] },
      { language: 'ta', texts: ['ta: Do you hold a licence?', 'ta: When can you start?'] },
    ],
    missing: [],
  })
  assert.deepEqual([calls.length, calls[0]!.headers.authorization], [1, 'Bearer secret-key'])
  assert.deepEqual(calls[0]!.data.texts, REQUEST.texts)
})

test('a language without a usable translation is reported, and the others are returned', async (t) => {
  const incomplete = respondWithCompletion((call: ReceivedAiCall) =>
    Object.fromEntries(
      Object.keys((call.body.response_format.json_schema.schema as any).properties).map((language) => [
        language,
        language === 'hi' ? call.data.texts.map((text) => `hi: ${text}`) : ['only one text'],
      ]),
    ),
  )
  const { recruiter, path } = await setUp(t, incomplete)
  const { translations, missing } = (await recruiter.post(path, REQUEST)).body.data
  assert.deepEqual(
    translations.map(({ language }: { language: string }) => language),
    ['hi'],
  )
  assert.deepEqual(missing, ['ta'])
})

test('an error of the AI endpoint is 502, and the message says what to do', async (t) => {
  let responder: AiResponder = translate
  const { recruiter, path } = await setUp(t, (call, response) => responder(call, response))
  for (const [failingResponder, expectedMessage] of [
    [respondWithError(503, { 'retry-after': '0' }), /could not be reached\. Try again later/],
    [respondWithError(401), /Ask the operator of this server to check its AI settings/],
    [respondWithCompletion('Here you are: …'), /returned no usable translation/],
    [respondWithCompletion('', { refusal: 'I cannot help with that.' }), /the AI model declined/],
  ] as const) {
    responder = failingResponder
    const { status, body } = await recruiter.post(path, REQUEST)
    assert.deepEqual([status, body.error.code], [502, 'TRANSLATION_FAILED'])
    assert.match(body.error.message, expectedMessage)
    assert.doesNotMatch(body.error.message, /some-model|secret-key|127\.0\.0\.1|Here you are|I cannot/)
  }
})

test('if the AI endpoint never responds, the response is 502 after the time limit', async (t) => {
  const { app, recruiter, path } = await setUp(t, neverRespond)
  const settings = app.context.config.ai!
  app.context.writer = new AiWriter(settings, { clock: systemClock, log: app.context.log, budgetMs: 50 })
  const { status, body } = await recruiter.post(path, REQUEST)
  assert.equal(status, 502)
  assert.match(body.error.message, /timed out/)
})

test('invalid requests, viewers, other organisations and too many requests are rejected', async (t) => {
  const { app, orgId, recruiter, path, calls } = await setUp(t, translate)
  const pathsOf = async (request: object) => {
    const { status, body } = await recruiter.post(path, request)
    assert.equal(status, 400)
    return body.error.details.map((detail: { path: string }) => detail.path)
  }
  assert.deepEqual(await pathsOf({ texts: [], to: ['hi'] }), ['texts'])
  assert.deepEqual(await pathsOf({ texts: [' '], to: ['hi'] }), ['texts[0]'])
  assert.deepEqual(await pathsOf({ texts: ['x'.repeat(201)], to: ['hi'] }), ['texts[0]'])
  assert.deepEqual(await pathsOf({ texts: Array(11).fill('a'), to: ['hi'] }), ['texts'])
  assert.deepEqual(await pathsOf({ texts: ['a'], to: ['fr'] }), ['to[0]'])
  assert.deepEqual(await pathsOf({ texts: ['a'], to: [], other: 1 }), ['other', 'to'])
  const viewer = await signInMember(app, orgId, 'viewer')
  assert.equal((await viewer.post(path, REQUEST)).status, 403)
  const other = await app.fixtures.createOrg()
  const stranger = await signInMember(app, other.orgId, 'owner')
  assert.equal((await stranger.post(path, REQUEST)).status, 404)
  assert.equal(calls.length, 0)
  for (let count = 0; count < 30; count++) assert.equal((await recruiter.post(path, REQUEST)).status, 200)
  const limited = await recruiter.post(path, REQUEST)
  assert.deepEqual([limited.status, limited.body.error.code], [429, 'RATE_LIMITED'])
  assert.equal(calls.length, 30)
})

test('without an AI writer, translations are not available', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const path = `/orgs/${orgId}/test/question-translations`
  assert.deepEqual((await recruiter.get(path)).body.data, { available: false })
  const { status, body } = await recruiter.post(path, REQUEST)
  assert.deepEqual([status, body.error.code], [409, 'CONFLICT'])
  assert.match(body.error.message, /Write the translations yourself/)
})

test('candidates of console mandates get confirmed translations only, and those of API mandates get those of the AI writer', async (t) => {
  const { app, orgId, recruiter, calls } = await setUp(t, translate)
  const { workflow_id } = await app.fixtures.createWorkflow({ orgId, mode: 'test' }, { languages: ['en', 'hi', 'ta'] })
  const input = {
    workflow_id,
    title: 'Electrician',
    company_name: 'Metro',
    methods: ['data_enrichment'],
    skills: [{ skill_id: 'sk_2001' }],
    enrichment_questions: [{ key: 'licence', type: 'yes_no', text: 'Licence?', translations: { hi: 'लाइसेंस?' } }],
  }
  const missingTamil = /^Enrichment questions without a translation are asked in English: licence \(Tamil\)\./
  const warningsOf = (body: any) => body.data.warnings.filter((warning: string) => missingTamil.test(warning)).length
  const base = `/orgs/${orgId}/test`
  const created = (await recruiter.post(`${base}/mandates`, input)).body
  assert.equal(warningsOf(created), 1, 'the console names the missing language')
  const partner = await createPartner(app, 'test', orgId)
  const createdByPartner = (await partner.post('/mandates', input)).body
  assert.equal(warningsOf(createdByPartner), 0)
  await prepareMandates(app.context)
  const prepared = (await recruiter.get(`${base}/mandates/${created.data.mandate_id}`)).body
  assert.deepEqual(prepared.data.questions.enrichment[0].text, { en: 'Licence?', hi: 'लाइसेंस?' })
  assert.equal(warningsOf(prepared), 1)
  assert.equal(calls.length, 1, 'only the mandate of the API is translated')
  const preparedForPartner = (await partner.get(`/mandates/${createdByPartner.data.mandate_id}`)).body
  assert.deepEqual(preparedForPartner.data.questions.enrichment[0].text, {
    en: 'Licence?',
    hi: 'लाइसेंस?',
    ta: 'ta: Licence?',
  })
})
