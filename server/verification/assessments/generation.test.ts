import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeItemWriter } from '../../../test/support/fake-item-writer.ts'
import { until } from '../../../test/support/until.ts'
import { answerQuestions, expectOk, outcomeOf, sharedVerification, WIRING } from '../../../test/support/verification.ts'
import type { ItemsRequest, ItemWriter } from '../../questions/questions.ts'
import { lockSession } from '../sessions.ts'
import { generateAssessment, LEASE_MS } from './assessments.ts'

const setUp = sharedVerification()

/** Returns an AI writer whose items all have different stems. */
function numberedItemWriter(): ItemWriter {
  const writer = fakeItemWriter()
  let number = 0
  return fakeItemWriter({
    async writeItems(request) {
      const { items, incompleteSkills } = await writer.writeItems(request)
      return { items: items.map((item) => ({ ...item, stem: `${++number}. ${item.stem}` })), incompleteSkills }
    },
  })
}

test('a question of an earlier attempt is repeated only if there are no other questions', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const { context } = calls.app
  const writer = numberedItemWriter()
  const earlierStems: string[] = []
  const requestedCounts: number[] = []
  let othersAvailable = true
  context.writer = fakeItemWriter({
    async writeItems(request: ItemsRequest) {
      requestedCounts.push(request.skills[0]!.count)
      const { items, incompleteSkills } = await writer.writeItems(request)
      const repeatStems = !othersAvailable || requestedCounts.length === 2
      return {
        items: items.map((item, index) =>
          repeatStems && earlierStems[index] ? { ...item, stem: earlierStems[index] } : item,
        ),
        incompleteSkills,
      }
    },
  })
  earlierStems.push(
    ...(await expectOk(calls.generateAssessment(session))).body.data.questions.map(({ question }: any) => question),
  )
  await expectOk(calls.submitAnswers(session, []))
  const { questions } = (await expectOk(calls.generateAssessment(session))).body.data
  assert.equal(questions.filter(({ question }: any) => earlierStems.includes(question)).length, 0)
  assert.deepEqual(requestedCounts, [5, 5, 10])
  await expectOk(calls.submitAnswers(session, []))
  othersAvailable = false
  assert.equal((await expectOk(calls.generateAssessment(session))).body.data.questions.length, 5)
})

test('duplicate questions are replaced, even if most replacements are duplicates too', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const { context } = calls.app
  const writer = numberedItemWriter()
  const avoidCounts: number[] = []
  let stem = ''
  context.writer = fakeItemWriter({
    async writeItems(request: ItemsRequest) {
      avoidCounts.push(request.skills[0]!.avoid!.length)
      const { items, incompleteSkills } = await writer.writeItems(request)
      stem ||= items[0]!.stem
      const duplicateCount = avoidCounts.length === 1 ? 2 : 4
      return {
        items: items.map((item, index) => (index < duplicateCount ? { ...item, stem } : item)),
        incompleteSkills,
      }
    },
  })
  const { questions } = (await calls.generateAssessment(session)).body.data
  assert.equal(new Set(questions.map(({ question }: any) => question)).size, 5)
  assert.deepEqual(avoidCounts, [0, 4])
})

test('concurrent calls generate one set, and only one submission counts', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const writer = numberedItemWriter()
  let writeCount = 0
  calls.app.context.writer = fakeItemWriter({
    async writeItems(request: ItemsRequest) {
      writeCount++
      await new Promise((resolve) => setTimeout(resolve, 250))
      return writer.writeItems(request)
    },
  })
  const generateResponses = await Promise.all(Array.from({ length: 5 }, () => calls.generateAssessment(session)))
  assert.deepEqual(generateResponses.map(outcomeOf), Array(5).fill('200'))
  assert.equal(writeCount, 1)
  assert.equal(generateResponses.filter(({ body }) => body.data.alreadyGenerated).length, 4)
  assert.equal(new Set(generateResponses.map(({ body }) => JSON.stringify(body.data.questions))).size, 1)
  assert.equal((await calls.listEvents()).length, 1)

  const correctAnswers = await answerQuestions(calls, session)
  const submitResponses = await Promise.all([
    calls.submitAnswers(session, correctAnswers),
    calls.submitAnswers(session, correctAnswers),
  ])
  assert.deepEqual(submitResponses.map(outcomeOf).sort(), ['200', '403 ASSESSMENT_LOCKED'])
  assert.equal((await calls.listEvents()).length, 2)
})

test('steps are rejected while questions are being generated', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const writer = numberedItemWriter()
  const { promise: writing, resolve: startWriting } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  calls.app.context.writer = fakeItemWriter({
    async writeItems(request: ItemsRequest) {
      startWriting()
      await released
      return writer.writeItems(request)
    },
  })
  const generation = calls.generateAssessment(session)
  await writing
  assert.equal(outcomeOf(await calls.storeSkills(session, [WIRING])), '409 SESSION_LOCKED')
  assert.equal(outcomeOf(await calls.chooseMethod(session, 'assessment')), '200')
  release()
  assert.equal((await generation).status, 200)
})

test('a writer that fails, times out or returns too few items leaves the session unchanged', async () => {
  const calls = await setUp()
  const { context } = calls.app
  const writer = numberedItemWriter()
  const session = await calls.openPreparedSession('assessment')
  const sessionBefore = await calls.getFullVerification(session)
  const builtInWriter = context.writer
  const faultyWriter = (writeItems: ItemWriter['writeItems']) => fakeItemWriter({ writeItems })
  context.writer = faultyWriter(async () => {
    throw new Error('the key is "Stretcher bond"')
  })
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '500 GENERATION_FAILED')
  let callCount = 0
  context.writer = faultyWriter(async (request) => {
    callCount++
    const { items } = await writer.writeItems(request)
    return { items: items.slice(3), incompleteSkills: [1001] }
  })
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '500 GENERATION_FAILED')
  assert.equal(callCount, 1, 'not called again: an AI writer retries by itself')
  let aborted = false
  context.writer = faultyWriter(({ signal }) => {
    signal!.addEventListener('abort', () => {
      aborted = true
    })
    return new Promise(() => {})
  })
  await assert.rejects(
    generateAssessment(context, (tx) => lockSession(tx, context.clock, session.token, undefined), { timeout: 1500 }),
    {
      code: 'GENERATION_FAILED',
    },
  )
  assert.equal(aborted, true, 'the signal aborts the writer')
  assert.deepEqual(await calls.getFullVerification(session), sessionBefore)
  assert.deepEqual(await calls.listEvents(), [])
  assert.equal(calls.app.logLines.join('').includes('Stretcher bond'), false)

  context.writer = builtInWriter
  assert.equal(outcomeOf(await calls.storeSkills(session)), '200', 'still open')
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '200')
})

test('a call that generates questions keeps its claim for as long as it takes', async () => {
  const calls = await setUp()
  const { db } = calls.app.context
  const writer = numberedItemWriter()
  const session = await calls.openPreparedSession('assessment')
  const { promise: writing, resolve: startWriting } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let writeCount = 0
  calls.app.context.writer = fakeItemWriter({
    async writeItems(request: ItemsRequest) {
      writeCount++
      startWriting()
      await released
      return writer.writeItems(request)
    },
  })
  const generation = calls.generateAssessment(session)
  await writing
  for (let renewals = 0; renewals < 2; renewals++) {
    calls.clock.advance(LEASE_MS - 1)
    await until(async () => {
      const { generating_until } = await db.queries
        .selectFrom('verification_sessions')
        .select('generating_until')
        .where('verification_id', '=', session.id)
        .executeTakeFirstOrThrow()
      return generating_until!.getTime() === calls.clock.now() + LEASE_MS
    })
  }
  release()
  assert.equal((await generation).status, 200)
  assert.equal(writeCount, 1)
})

test('a call whose claim has expired does not store its questions while another call generates them', async (t) => {
  const calls = await setUp()
  const writer = numberedItemWriter()
  const session = await calls.openPreparedSession('assessment')
  const writers: PromiseWithResolvers<void>[] = []
  t.after(() => {
    for (const { resolve } of writers) resolve()
  })
  calls.app.context.writer = fakeItemWriter({
    async writeItems(request: ItemsRequest) {
      const released = Promise.withResolvers<void>()
      writers.push(released)
      await released.promise
      return writer.writeItems(request)
    },
  })
  const firstCall = calls.generateAssessment(session)
  await until(() => writers.length === 1)
  const secondCall = calls.generateAssessment(session)
  await until(() => {
    calls.clock.advance(LEASE_MS) // repeatedly, because the first call may renew its claim in between
    return writers.length === 2
  })
  writers[0]!.resolve()
  assert.equal(outcomeOf(await firstCall), '500 GENERATION_FAILED')
  assert.equal((await calls.getFullVerification(session)).status, 'open')
  writers[1]!.resolve()
  const { body } = await expectOk(secondCall)
  assert.equal('alreadyGenerated' in body.data, false)
  assert.equal((await calls.listEvents()).length, 1)
})

test('a process that died while generating questions does not block the session permanently', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  await calls.app.context.db.queries
    .updateTable('verification_sessions')
    .set({ generating_by: 'dead-process', generating_until: new Date(calls.clock.now() + LEASE_MS) })
    .where('verification_id', '=', session.id)
    .execute()
  const pendingGeneration = calls.generateAssessment(session)
  calls.clock.advance(LEASE_MS)
  assert.equal((await pendingGeneration).status, 200)
})

test('the rules of a source are checked again when the questions are stored', async () => {
  const calls = await setUp()
  const [firstSession, secondSession] = [
    await calls.openPreparedSession('assessment'),
    await calls.openPreparedSession('assessment'),
  ]
  const { context } = calls.app
  const writer = numberedItemWriter()
  const correctAnswers = await answerQuestions(calls, firstSession)
  context.writer = fakeItemWriter({
    async writeItems(request: ItemsRequest) {
      // Passes the skill while the questions of the second session are being generated.
      await expectOk(calls.submitAnswers(firstSession, correctAnswers))
      return writer.writeItems(request)
    },
  })
  assert.equal(outcomeOf(await calls.generateAssessment(secondSession)), '409 ASSESSMENT_ALREADY_PASSED')
  assert.equal((await calls.getFullVerification(secondSession)).status, 'open')
})
