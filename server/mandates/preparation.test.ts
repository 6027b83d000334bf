import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate, prepareMandates, startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { fakeItemWriter } from '../../test/support/fake-item-writer.ts'
import { createPartner } from '../../test/support/partners.ts'
import { insertPrivateItems } from '../../test/support/private-items.ts'
import { until } from '../../test/support/until.ts'
import type { OrgScope } from '../access/caller.ts'
import { skillNumber } from '../catalogue/ids.ts'
import { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { MINUTE, SECOND } from '../platform/clock.ts'
import { loadBank } from '../questions/bank/bank.ts'
import { MIN_ACTIVE_ITEMS } from '../questions/skill-items.ts'
import { WriterError } from '../questions/writer-error.ts'
import { getFlow } from './flow.ts'
import { getMandate } from './mandate-rows.ts'
import { archiveMandate, createMandate, MANDATE_TO_PREPARE, replaceMandate, retryMandate } from './mandates.ts'
import { LEASE_MS, MIN_ATTEMPTS, openPreparer, startPreparation } from './preparation.ts'

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

test('questions are prepared in all available languages with the same key', async () => {
  const { context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow({ languages: ['or', 'hi', 'en'] })
  const { mandate_id } = await create(scope, workflow_id)
  await prepareMandates(context)
  const flow = await getFlow(db.queries, scope, mandate_id, 1)
  assert.deepEqual(flow.languages, ['or', 'hi', 'en'])
  assert.deepEqual(flow.enrichment[0], {
    key: 'licence',
    type: 'yes_no',
    text: { en: 'Do you hold a wireman licence?' },
    knockout: 'no',
    required: true,
  })
  assert.equal(flow.skills.length, 3)
  for (const { items, languages, source } of flow.skills) {
    assert.equal(source, 'bank')
    assert.deepEqual(languages.slice(0, 2), ['en', 'hi'])
    assert.ok(items.length >= MIN_ACTIVE_ITEMS)
    assert.equal(new Set(items.map(({ id }) => id)).size, items.length)
    for (const { texts, calculation } of items) {
      assert.ok(texts.hi && texts.en)
      assert.equal(texts.hi.options.length, texts.en.options.length)
      if (calculation) continue
      const numbers = ([key]: string[]) => key!.match(/\d+(\.\d+)?/g) ?? []
      assert.deepEqual(numbers(texts.hi.options), numbers(texts.en.options), 'the same key in both languages')
    }
  }
  const { warnings } = await getMandate(db.queries, scope, mandate_id)
  assert.deepEqual(
    warnings.map((warning) => /Hindi|Odia/.exec(warning)?.[0]),
    ['Odia', 'Odia'],
  )
})

test('a mandate shows examples of its items in the languages of the workflow, without the keys', async () => {
  const { app, context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow({ languages: ['hi'] })
  const { mandate_id } = await create(scope, workflow_id)
  await prepareMandates(context)
  const { get } = await createPartner(app, scope.mode, scope.orgId)
  const { skills } = (await get(`/mandates/${mandate_id}`)).body.data.questions
  const flow = await getFlow(db.queries, scope, mandate_id, 1)
  assert.equal(skills.length, 3)
  for (const [index, { items, ...skill }] of skills.entries()) {
    const { skill_id, name, items: flowItems } = flow.skills[index]!
    assert.deepEqual(skill, {
      skill_id,
      name,
      item_source: 'bank',
      item_count: flowItems.length,
      items_per_candidate: { min: 4, max: 8 },
    })
    assert.equal(items.length, 3)
    for (const { difficulty, stem, options, ...rest } of items) {
      assert.deepEqual(rest, {})
      assert.ok([1, 2, 3].includes(difficulty))
      assert.deepEqual([Object.keys(stem), Object.keys(options)], [['hi'], ['hi']])
      assert.equal(new Set(options.hi).size, 4)
    }
    assert.equal(new Set(items.map(({ stem }: { stem: { hi: string } }) => stem.hi)).size, 3)
  }
})

test('mandates that verify the same skill share the stored items', async () => {
  const { context, db, create, newWorkflow } = await setUp()
  const skills = [{ skill_id: 'sk_1001', verify: true }]
  const setIds = new Set<string>()
  for (const languages of [['en'], ['hi', 'en']]) {
    const { scope, workflow_id } = await newWorkflow({ languages })
    const { mandate_id } = await create(scope, workflow_id, { skills })
    await prepareMandates(context)
    const { flow } = await db.queries
      .selectFrom('mandate_flows')
      .select('flow')
      .where('mandate_id', '=', mandate_id)
      .executeTakeFirstOrThrow()
    setIds.add(JSON.parse(flow).skills[0].set_id)
  }
  assert.equal(setIds.size, 1)
  const sets = await db.queries
    .selectFrom('item_sets')
    .select('items')
    .where('set_id', 'in', [...setIds])
    .execute()
  assert.deepEqual(
    sets.map(({ items }) => JSON.parse(items)),
    [(await loadBank()).itemsOf(1001)],
  )
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
  const writer = fakeItemWriter({
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
  for (const { source, languages, items } of skills) {
    assert.deepEqual([source, languages, items.length], ['ai', ['hi'], MIN_ACTIVE_ITEMS])
    for (const { texts } of items)
      assert.deepEqual(Object.keys(texts), ['hi'], 'dropped: the Tamil translation has two equal options')
  }
  const { warnings } = await getMandate(db.queries, scope, mandate_id)
  assert.equal(warnings.length, 1)
  assert.match(warnings[0]!, /skill question.* in Tamil \(the AI writer has written only Hindi\)/)
})

test("a private bank that lacks a language of the workflow is named in the mandate's warning", async () => {
  const { app, context, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow({ languages: ['en', 'hi'] })
  await insertPrivateItems(app.context, scope.orgId, { skillNumber: 2001, count: MIN_ACTIVE_ITEMS })
  const { mandate_id } = await create(scope, workflow_id, { enrichment_questions: [] })
  await prepareMandates(context)
  const { warnings } = await getMandate(db.queries, scope, mandate_id)
  const { name } = context.catalogue.current.skill(2001)!
  assert.deepEqual(
    warnings
      .filter((warning) => warning.includes('skill questions'))
      .map((warning) => /one: (.*?)\./.exec(warning)?.[1]),
    [`${name} in Hindi (your organisation's bank has only English)`],
  )
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
  const writer = fakeItemWriter({
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
  const writer = fakeItemWriter()
  let hangingCalls = 0
  const AI_WORKERS = 4
  const slowWriter = fakeItemWriter({
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
  const writer = fakeItemWriter({
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
  await preparer.prepareAll()
  assert.equal(
    (await getMandate(db.queries, scope, mandate_id)).status,
    'preparing',
    'the count of attempts starts again at zero',
  )
  clock.advance(SECOND)
  await prepareMandates(context)
  const eventSummaries = (await listEvents(app, scope)).map(({ type, data }) => [type, data.version, data.flow_version])
  assert.deepEqual(eventSummaries, [
    ['mandate.failed', 2, 1],
    ['mandate.ready', 4, 1],
  ])
})

test('a permanent error fails the mandate immediately', async () => {
  const { context, clock, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const { mandate_id } = await create(scope, workflow_id)
  const rejectingWriter = fakeItemWriter({ writeItems: () => Promise.reject(new WriterError('rejected', '401')) })
  await openPreparer({ ...context, writer: rejectingWriter }).prepareAll()
  const rejectedMandate = await getMandate(db.queries, scope, mandate_id)
  assert.deepEqual(
    [rejectedMandate.status, rejectedMandate.failure],
    ['failed', 'The questions could not be written: the AI endpoint rejected the request.'],
  )

  // The mandate was created before items of its skill were retired.
  const skill_id = 'sk_2028'
  const { mandate_id: secondMandateId } = await create(scope, workflow_id, { skills: [{ skill_id, verify: true }] })
  const items = (await loadBank()).itemsOf(skillNumber(skill_id)!)
  const retiredItems = items.slice(MIN_ACTIVE_ITEMS - 1).map(({ id }) => ({
    item_id: id,
    skill_number: skillNumber(skill_id)!,
    status: 'retired',
    updated_at: new Date(clock.now()),
  }))
  await db.queries.insertInto('bank_items').values(retiredItems).execute()
  try {
    await prepareMandates(context)
  } finally {
    await db.queries.deleteFrom('bank_items').where('skill_number', '=', skillNumber(skill_id)!).execute()
  }
  const { status, failure } = await getMandate(db.queries, scope, secondMandateId)
  assert.equal(status, 'failed')
  assert.match(
    failure!,
    / cannot be verified: it has 11 active questions, and 12 are needed\. Import questions, or configure an AI writer\.$/,
  )
})

test('a mandate changed or archived during preparation does not keep the outdated questions', async () => {
  const { app, context, clock, db, create, newWorkflow } = await setUp()
  const { scope, workflow_id } = await newWorkflow()
  const { mandate_id: archivedMandateId } = await create(scope, workflow_id)
  const { mandate_id: changedMandateId } = await create(scope, workflow_id)
  const writingStarted = Promise.withResolvers<void>()
  const resumeWriting = Promise.withResolvers<void>()
  const writer = fakeItemWriter()
  const slowWriter = fakeItemWriter({
    async writeItems(request) {
      writingStarted.resolve()
      await resumeWriting.promise
      return writer.writeItems(request)
    },
  })
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
  const hangingWriter = fakeItemWriter({ writeItems: () => new Promise(() => {}) })
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
  const waitingWriter = fakeItemWriter({
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
