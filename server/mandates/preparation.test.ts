import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, prepareMandates, startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { createPartner } from '../../test/support/partners.ts'
import { until } from '../../test/support/until.ts'
import type { OrgScope } from '../access/caller.ts'
import { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { MINUTE } from '../platform/clock.ts'
import type { Item, QuestionWriter } from '../questions/questions.ts'
import { WriterError } from '../questions/writer-error.ts'
import { getFlow } from './flow.ts'
import { getMandate } from './mandate-rows.ts'
import { archiveMandate, createMandate, MANDATE_TO_PREPARE, replaceMandate, retryMandate } from './mandates.ts'
import { LEASE_MS, MIN_ATTEMPTS, openPreparer, startPreparation } from './preparation.ts'

/** Returns a fake AI writer; `change` replaces some of its methods. */
function aiWriter(change: Partial<QuestionWriter> = {}): QuestionWriter {
  return {
    kind: 'ai',
    async writeItems({ skills, language }) {
      const items = skills.flatMap(({ skill, count }) =>
        Array.from({ length: count }, (_, index): Item => {
          const options: Item['options'] = ['Red wire first', 'Blue wire first', 'Green wire first', 'Black wire first']
          const stem = `You start work number ${index} on site today. What do you do first?`
          return { skill: skill.number, stem, options, key: 2, difficulty: 1, kind: 'order', language }
        }),
      )
      return { items, incompleteSkills: [] }
    },
    async translate({ texts, to }) {
      return Object.fromEntries(to.map((language) => [language, texts.map((text) => `${language}: ${text}`)]))
    },
    ...change,
  }
}

async function listEvents({ context }: TestApp, { orgId, mode }: OrgScope) {
  await context.events.sequence()
  const rows = await context.db.queries
    .selectFrom('events')
    .select(['type', 'data'])
    .where('org_id', '=', orgId)
    .where('mode', '=', mode)
    .orderBy('sequence')
    .execute()
  return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }))
}

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { context, fixtures, clock } = app
  const { db } = context
  const deps = { clock, skills: new LoadedSkills(context.catalogue.current), writer: context.writer }
  const createMandateIn = (scope: OrgScope, workflowId: string, change: object = {}) =>
    db.transaction((tx) => createMandate(tx, scope, deps, { ...aMandate(workflowId), ...change }, 'api'))
  const newWorkflow = async (workflow: object = {}) => {
    const { scope } = await createPartner(app)
    return { scope, workflow_id: (await fixtures.createWorkflow(scope, workflow)).workflow_id }
  }
  return { app, context, clock, db, deps, create: createMandateIn, newWorkflow }
}

test('an event contains the full mandate and its version', async () => {
  const { app, context, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const { mandate_id } = await create(scope, workflow_id, { job_id: 'j' })
  await prepareMandates(context)
  const [event, ...otherEvents] = await listEvents(app, scope)
  assert.deepEqual(otherEvents, [])
  assert.equal(event!.type, 'mandate.ready')
  const { data } = event!
  assert.deepEqual(
    [data.mandate_id, data.job_id, data.status, data.version, data.flow_version, data.title, data.workflow_id],
    [mandate_id, 'j', 'ready', 2, 1, 'Electrician', workflow_id],
  )
})

test('questions are written in all available languages with the same key', async () => {
  const { context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow({ languages: ['ta', 'hi', 'en'] })
  const { mandate_id } = await create(scope, workflow_id)
  await prepareMandates(context)
  const flow = await getFlow(db.queries, scope, mandate_id, 1)
  assert.deepEqual(flow.languages, ['ta', 'hi', 'en'])
  assert.deepEqual(flow.enrichment[0], {
    key: 'licence',
    type: 'yes_no',
    text: { en: 'Do you hold a wireman licence?' },
    knockout: 'no',
    required: true,
  })
  for (const { items } of flow.skills) {
    assert.equal(new Set(items.map(({ item_id }) => item_id)).size, 3)
    for (const { text, key } of items) {
      assert.deepEqual(Object.keys(text).sort(), ['en', 'hi'])
      assert.ok(text.hi!.options[key] && text.en!.options[key])
      const numbers = (options: string[]) => options[key]!.match(/\d+(\.\d+)?/g) ?? []
      assert.deepEqual(
        numbers(text.hi!.options),
        numbers(text.en!.options),
        'the key is the same option in both languages',
      )
    }
  }
  const { warnings } = await getMandate(db.queries, scope, mandate_id)
  assert.deepEqual(
    warnings.map((warning) => /Hindi|Tamil/.exec(warning)?.[0]),
    ['Tamil', 'Tamil'],
  )
})

test('questions are only in Hindi if the workflow has only Hindi', async () => {
  const { context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow({ languages: ['hi'] })
  const { mandate_id } = await create(scope, workflow_id)
  await prepareMandates(context)
  const { skills } = await getFlow(db.queries, scope, mandate_id, 1)
  for (const { items } of skills) for (const { text } of items) assert.deepEqual(Object.keys(text), ['hi'])
})

test('every verifiable skill gets its questions', async () => {
  const { context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const verifiable = context.catalogue.current.skills.filter((skill) => skill.verifiable)
  const sampledSkills = verifiable.filter((_, index) => index % 40 === 0)
  for (let from = 0; from < sampledSkills.length; from += 3) {
    const skills = sampledSkills.slice(from, from + 3).map(({ number }) => ({ skill_id: `sk_${number}`, verify: true }))
    await create(scope, workflow_id, { skills })
  }
  await prepareMandates(context)
  const statuses = await db.queries.selectFrom('mandates').select('status').where('org_id', '=', scope.orgId).execute()
  assert.deepEqual([...new Set(statuses.map(({ status }) => status))], ['ready'])
})

test('an AI endpoint translates everything, and translations that give the answer away are dropped', async () => {
  const { context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow({ languages: ['hi', 'ta'] })
  const writer = aiWriter({
    async translate({ texts, to }) {
      const duplicateOption = (text: string) => (text === 'Black wire first' ? 'Red wire first' : text)
      return Object.fromEntries(
        to.map((language) => [
          language,
          texts.map((text) => (language === 'ta' ? duplicateOption(text) : `हिन्दी ${text}`)),
        ]),
      )
    },
  })
  const { mandate_id } = await create(scope, workflow_id)
  await openPreparer({ ...context, writer }).prepareAll()
  const { enrichment, skills } = await getFlow(db.queries, scope, mandate_id, 1)
  assert.deepEqual(Object.keys(enrichment[0]!.text), ['en', 'hi', 'ta'])
  assert.deepEqual(
    Object.keys(skills[0]!.items[0]!.text),
    ['hi'],
    'dropped: the Tamil translation has two equal options',
  )
  const { warnings } = await getMandate(db.queries, scope, mandate_id)
  assert.equal(warnings.length, 1)
  assert.match(warnings[0]!, /skill question.*Tamil/)
})

test('translations of enrichment questions are used, and one warning names the missing ones', async () => {
  const { app, context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow({ languages: ['en', 'hi', 'ta'] })
  const enrichment_questions = [
    {
      key: 'licence',
      type: 'yes_no' as const,
      text: 'Licence?',
      translations: { ta: 'உரிமம்?', hi: 'लाइसेंस?', bn: 'লাইসেন্স?' },
    },
    { key: 'start', type: 'voice' as const, text: 'When can you start?', translations: { hi: 'कब से?' } },
  ]
  const input = { methods: ['data_enrichment' as const], enrichment_questions, skills: [] }
  const { mandate_id, warnings: firstWarnings } = await create(scope, workflow_id, input)
  const expectedWarnings = [
    'Enrichment questions without a translation are asked in English: start (Tamil). Send the texts in their translations.',
  ]
  assert.deepEqual(
    firstWarnings.filter((warning) => warning.includes('Enrichment')),
    expectedWarnings,
  )
  await prepareMandates(context)
  const { enrichment } = await getFlow(db.queries, scope, mandate_id, 1)
  assert.deepEqual(
    enrichment.map(({ text }) => text),
    [
      { en: 'Licence?', hi: 'लाइसेंस?', ta: 'உரிமம்?' },
      { en: 'When can you start?', hi: 'कब से?' },
    ],
  )
  const { warnings, body } = await getMandate(db.queries, scope, mandate_id)
  assert.deepEqual(
    warnings.filter((warning) => warning.includes('Enrichment')),
    expectedWarnings,
  )
  assert.deepEqual(body.enrichment_questions![0]!.translations, { hi: 'लाइसेंस?', bn: 'লাইসেন্স?', ta: 'உரிமம்?' })

  // The AI writer translates only the missing texts.
  const requests: object[] = []
  const writer = aiWriter({
    async translate({ texts, to }) {
      requests.push({ texts, to })
      return Object.fromEntries(to.map((language) => [language, texts.map((text) => `${language}: ${text}`)]))
    },
  })
  const ai = await create(scope, workflow_id, input)
  await openPreparer({ ...context, writer }).prepareAll()
  assert.deepEqual(requests, [{ texts: ['When can you start?'], to: ['ta'] }])
  const aiFlow = await getFlow(db.queries, scope, ai.mandate_id, 1)
  assert.deepEqual(aiFlow.enrichment[1]!.text, {
    en: 'When can you start?',
    hi: 'कब से?',
    ta: 'ta: When can you start?',
  })
  const aiMandate = await getMandate(db.queries, scope, ai.mandate_id)
  assert.deepEqual(
    aiMandate.warnings.filter((warning) => warning.includes('Enrichment')),
    [],
  )

  const { post } = await createPartner(app, scope.mode, scope.orgId)
  const rejected = await post('/mandates', {
    workflow_id,
    title: 'Mason',
    company_name: 'Metro',
    skills: [{ skill_id: 'sk_1001' }],
    methods: ['data_enrichment'],
    enrichment_questions: [{ ...enrichment_questions[0], translations: { en: 'Licence?', xx: 'a', hi: ' ' } }],
  })
  assert.deepEqual(
    rejected.body.error.details.map(({ path }: { path: string }) => path).sort(),
    ['en', 'hi', 'xx'].map((language) => `enrichment_questions[0].translations.${language}`),
  )
})

test('requests that an AI endpoint does not respond to do not delay other mandates', async () => {
  const { context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const writer = aiWriter()
  let hangingCalls = 0
  const AI_WORKERS = 4
  const slowWriter = aiWriter({
    async writeItems(request) {
      if (hangingCalls >= AI_WORKERS) return writer.writeItems(request)
      hangingCalls++
      return new Promise((_, reject) => request.signal!.addEventListener('abort', () => reject(new Error('aborted'))))
    },
  })
  const skills = [{ skill_id: 'sk_1001', verify: true }]
  const preparer = startPreparation({ ...context, writer: slowWriter }, { slowBatchMs: 20 })
  try {
    for (let number = 0; number < AI_WORKERS; number++) await create(scope, workflow_id, { skills })
    await until(async () => hangingCalls === AI_WORKERS)
    const { mandate_id } = await create(scope, workflow_id, { skills })
    await until(async () => (await getMandate(db.queries, scope, mandate_id)).status === 'ready')
  } finally {
    await preparer.stop()
    await prepareMandates(context) // the released mandates, so that they do not disturb other tests
  }
})

test('a transient error is retried with backoff, and the last attempt fails with a reason', async () => {
  const { app, context, clock, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const { mandate_id } = await create(scope, workflow_id)
  let calls = 0
  const writer = aiWriter({
    async writeItems() {
      calls++
      throw new WriterError('unavailable', 'connect ECONNREFUSED 10.0.0.7')
    },
  })
  const preparer = openPreparer({ ...context, writer })
  const skillCount = 3
  await preparer.prepareAll()
  assert.equal(calls, skillCount)
  await preparer.prepareAll()
  assert.equal(calls, skillCount, 'no retry before the delay has passed')
  for (let attempt = 2; attempt <= MIN_ATTEMPTS; attempt++) {
    assert.equal((await getMandate(db.queries, scope, mandate_id)).status, 'preparing')
    clock.advance(MINUTE)
    await preparer.prepareAll()
    assert.equal(calls, attempt * skillCount)
  }
  const failedMandate = await getMandate(db.queries, scope, mandate_id)
  assert.equal(failedMandate.status, 'failed')
  assert.equal(
    failedMandate.failure,
    'The questions could not be written after 8 attempts: the AI endpoint could not be reached.',
  )
  const [event, ...others] = await listEvents(app, scope)
  assert.deepEqual(
    [event!.type, event!.data.failure, event!.data.version, others.length],
    ['mandate.failed', failedMandate.failure, 2, 0],
  )

  await db.transaction((tx) => retryMandate(tx, scope, clock, mandate_id))
  await prepareMandates(context)
  const eventSummaries = (await listEvents(app, scope)).map(({ type, data }) => [type, data.version, data.flow_version])
  assert.deepEqual(eventSummaries, [
    ['mandate.failed', 2, 1],
    ['mandate.ready', 4, 1],
  ])
})

test('a permanent error fails the mandate immediately', async () => {
  const { context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const { mandate_id } = await create(scope, workflow_id)
  const rejectingWriter = aiWriter({ writeItems: () => Promise.reject(new WriterError('rejected', '401')) })
  await openPreparer({ ...context, writer: rejectingWriter }).prepareAll()
  const rejectedMandate = await getMandate(db.queries, scope, mandate_id)
  assert.deepEqual(
    [rejectedMandate.status, rejectedMandate.failure],
    ['failed', 'The questions could not be written: the AI endpoint rejected the request.'],
  )

  const { mandate_id: secondMandateId } = await create(scope, workflow_id)
  const incompleteWriter = {
    ...aiWriter({ writeItems: async () => ({ items: [], incompleteSkills: [2001] }) }),
    kind: 'built-in' as const,
  }
  await openPreparer({ ...context, writer: incompleteWriter }).prepareAll()
  assert.equal(
    (await getMandate(db.queries, scope, secondMandateId)).failure,
    'Too few questions could be written for House wiring.',
  )
})

test('a mandate changed or archived during preparation does not keep the outdated questions', async () => {
  const { app, context, clock, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const { mandate_id: archivedMandateId } = await create(scope, workflow_id)
  const { mandate_id: changedMandateId } = await create(scope, workflow_id)
  const writingStarted = Promise.withResolvers<void>()
  const resumeWriting = Promise.withResolvers<void>()
  const writer = aiWriter()
  const slowWriter: QuestionWriter = {
    ...writer,
    kind: 'built-in',
    async writeItems(request) {
      writingStarted.resolve()
      await resumeWriting.promise
      return writer.writeItems(request)
    },
  }
  const preparation = openPreparer({ ...context, writer: slowWriter }).prepareAll()
  await writingStarted.promise
  await db.transaction((tx) => archiveMandate(tx, scope, clock, archivedMandateId))
  // Create a new version while the first one is being prepared, as resolving a pending skill does.
  await db.queries
    .updateTable('mandates')
    .set({ flow_version: 2, prepare_at: new Date(clock.now()) })
    .where('mandate_id', '=', changedMandateId)
    .execute()
  await prepareMandates(context)
  resumeWriting.resolve()
  await preparation
  assert.equal((await getMandate(db.queries, scope, archivedMandateId)).status, 'archived')
  const flows = await db.queries
    .selectFrom('mandate_flows')
    .select(['mandate_id', 'flow_version'])
    .where('mandate_id', 'in', [archivedMandateId, changedMandateId])
    .execute()
  assert.deepEqual(flows, [{ mandate_id: changedMandateId, flow_version: 2 }])
  assert.equal((await listEvents(app, scope)).length, 1)
})

test('several processes prepare concurrently, each mandate once', async () => {
  const { app, context, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  for (let count = 0; count < 60; count++) await create(scope, workflow_id)
  const preparers = Array.from({ length: 4 }, () => openPreparer(context))
  await Promise.all(preparers.map((preparer) => preparer.prepareAll()))
  const preparedIds = (await listEvents(app, scope)).map(({ data }) => data.mandate_id)
  assert.deepEqual([preparedIds.length, new Set(preparedIds).size], [60, 60])
})

test('mandates claimed by a dead process are prepared by another one', async () => {
  const { context, clock, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const { mandate_id } = await create(scope, workflow_id)
  const hangingWriter = aiWriter({ writeItems: () => new Promise(() => {}) })
  void openPreparer({ ...context, writer: hangingWriter }).prepareAll()
  const countAttempts = async () => {
    const row = await db.queries
      .selectFrom('mandates')
      .select('attempts')
      .where('mandate_id', '=', mandate_id)
      .executeTakeFirstOrThrow()
    return row.attempts
  }
  while ((await countAttempts()) === 0) await new Promise(setImmediate)
  await prepareMandates(context)
  assert.equal((await getMandate(db.queries, scope, mandate_id)).status, 'preparing', 'the lease has not expired yet')
  clock.advance(LEASE_MS)
  await prepareMandates(context)
  assert.equal((await getMandate(db.queries, scope, mandate_id)).status, 'ready')
})

test('stopping releases claimed mandates', async () => {
  const { context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const { mandate_id } = await create(scope, workflow_id)
  const writingStarted = Promise.withResolvers<void>()
  const waitingWriter = aiWriter({
    writeItems: ({ signal }) =>
      new Promise((_, reject) => {
        writingStarted.resolve()
        signal!.addEventListener('abort', () => reject(new WriterError('aborted', 'stopped')))
      }),
  })
  const preparer = startPreparation({ ...context, writer: waitingWriter })
  await writingStarted.promise
  await preparer.stop()
  await prepareMandates(context)
  const { status } = await getMandate(db.queries, scope, mandate_id)
  assert.equal(status, 'ready', 'prepared by another process without waiting for the lease to expire')
})

test('earlier versions of a flow stay available', async () => {
  const { context, db, deps, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const { mandate_id } = await create(scope, workflow_id)
  await prepareMandates(context)
  const { job_id: _job, ...body } = aMandate(workflow_id)
  await db.transaction((tx) => replaceMandate(tx, scope, deps, mandate_id, { ...body, title: 'Foreman' }))
  await prepareMandates(context)
  const titles = [1, 2].map(async (version) => (await getFlow(db.queries, scope, mandate_id, version)).title)
  assert.deepEqual(await Promise.all(titles), ['Electrician', 'Foreman'])
  await assert.rejects(getFlow(db.queries, scope, mandate_id, 3), /has no prepared questions/)
  await assert.rejects(getFlow(db.queries, { ...scope, mode: 'test' }, mandate_id, 1), /has no prepared questions/)
})

test('a running server prepares a new mandate when it is notified, without waiting for the next poll', async (t) => {
  const app = await startApp(t, { worker: true })
  const { post, get, scope } = await createPartner(app)
  const { workflow_id } = await app.fixtures.createWorkflow(scope, { languages: ['en', 'hi'] })
  let notifications = 0
  app.context.db.onCommitted(MANDATE_TO_PREPARE, () => notifications++)
  const { mandate_id } = (await post('/mandates', aMandate(workflow_id))).body.data
  await until(() => notifications > 0)
  await until(async () => (await get(`/mandates/${mandate_id}`)).body.data.status === 'ready')
})
