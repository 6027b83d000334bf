import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiResponder, type ReceivedAiCall, respondWithCompletion } from '../../test/support/ai-endpoint.ts'
import { SITUATIONS, startWriter, writtenItem } from '../../test/support/ai-writer.ts'
import { aMandate, startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { fakeItemWriter } from '../../test/support/fake-item-writer.ts'
import { createPartner } from '../../test/support/partners.ts'
import type { OrgScope } from '../access/caller.ts'
import { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { getFlow } from '../mandates/flow.ts'
import { createMandate } from '../mandates/mandates.ts'
import { openPreparer } from '../mandates/preparation.ts'
import type { Language } from '../platform/text/languages.ts'
import type { QuestionWriter } from '../questions/questions.ts'
import { MIN_ACTIVE_ITEMS } from '../questions/skill-items.ts'

const startSharedApp = oncePerFile((t) => startApp(t))
const WELDING = 4001

/** Responds with new items and with translations. Item 0 is written first. */
function respondToWriter(firstItem = 0): AiResponder {
  let nextItem = firstItem
  const writeItems = ({ data }: ReceivedAiCall) => ({
    items: data.skills.flatMap(({ number, name, count }) =>
      Array.from({ length: count }, () => writtenItem({ number, name }, nextItem++)),
    ),
  })
  const translate = ({ data, body }: ReceivedAiCall) => {
    const languages = body.response_format.json_schema.schema.required as string[]
    return Object.fromEntries(
      languages.map((language) => [language, data.texts.map((text) => inScript(text, language))]),
    )
  }
  return respondWithCompletion((call: ReceivedAiCall) => (isTranslation(call) ? translate(call) : writeItems(call)))
}

const LETTERS: Record<string, string> = {
  hi: 'कखगघङचछजझञटठडढणतथदधनपफबभमय',
  ta: 'கஙசஜஞடணதநனபமயரறலளழவஷஸஹஅஆஇஈ',
}

/** Replaces each letter with one of the script of the language. */
const inScript = (text: string, language: string) =>
  text.toLowerCase().replace(/[a-z]/g, (letter) => LETTERS[language]![letter.charCodeAt(0) - 97]!)

/** Replaces the letters of `inScript` with the English ones. */
const toEnglish = (text: string) =>
  text.replace(/\p{Lo}/gu, (letter) => {
    const letters = Object.values(LETTERS).find((each) => each.includes(letter))!
    return String.fromCharCode(97 + letters.indexOf(letter))
  })

/** Answers items about the situations, also translated ones. */
const answerItems = ({ data }: ReceivedAiCall) => ({
  answers: data.items.map(({ item, question, options }) => {
    const situation = SITUATIONS.find(([text]) => toEnglish(question).includes(text))!
    const rightOption = options.findIndex((option) => toEnglish(option).toLowerCase() === situation[1].toLowerCase())
    return { item, reason: 'It is done so.', right: [rightOption + 1] }
  }),
})

const startItemWriter = (t: TestContext, responders: AiResponder[]) =>
  startWriter(t, responders, { verifiers: [respondWithCompletion(answerItems)] })

const isTranslation = ({ body }: ReceivedAiCall) => body.response_format.json_schema.name === 'translations'
const countItems = (calls: ReceivedAiCall[]) =>
  calls
    .filter((call) => !isTranslation(call))
    .flatMap(({ data }) => data.skills)
    .reduce((sum, { count }) => sum + count, 0)
const translatedLanguages = (calls: ReceivedAiCall[]) =>
  calls.filter(isTranslation).flatMap(({ body }) => body.response_format.json_schema.schema.required as string[])

async function createWeldingMandate({ context, clock, fixtures }: TestApp, scope: OrgScope, languages: Language[]) {
  const { workflow_id } = await fixtures.createWorkflow(scope, { languages })
  const deps = { clock, skills: new LoadedSkills(context.catalogue.current), writer: context.writer }
  const input = {
    ...aMandate(workflow_id),
    enrichment_questions: [],
    skills: [{ skill_id: `sk_${WELDING}`, verify: true }],
  }
  const { mandate_id } = await context.db.transaction((tx) => createMandate(tx, scope, deps, input, 'api'))
  return mandate_id
}

/** Creates a mandate that verifies arc welding, prepares it with the writer, and returns the skill of its flow. */
async function prepareWithWriter(app: TestApp, scope: OrgScope, languages: Language[], writer: QuestionWriter) {
  const mandateId = await createWeldingMandate(app, scope, languages)
  await openPreparer({ ...app.context, writer }).prepareAll()
  const { skills } = await getFlow(app.context.db.queries, scope, mandateId, 1)
  return skills[0]!
}

const readRows = ({ context }: TestApp, { orgId }: OrgScope) =>
  context.db.queries.selectFrom('skill_items').selectAll().where('org_id', '=', orgId).orderBy('item_id').execute()

test('the items of the AI writer are written once, sealed, and used by later mandates', async (t) => {
  const app = await startSharedApp()
  const { scope } = await createPartner(app)
  const { writer, calls } = await startItemWriter(t, [respondToWriter()])
  const first = await prepareWithWriter(app, scope, ['en'], writer)
  assert.deepEqual([first.source, first.languages, first.items.length], ['ai', ['en'], MIN_ACTIVE_ITEMS])
  assert.equal(countItems(calls), MIN_ACTIVE_ITEMS)

  const rows = await readRows(app, scope)
  assert.deepEqual(
    rows.map(({ item_id, skill_number, source, status }) => [item_id, skill_number, source, status]),
    first.items.map(({ id }) => [id, WELDING, 'ai', 'active']),
  )
  for (const { content } of rows)
    assert.doesNotMatch(content.toString('latin1'), /current|clamp|What do you do/, 'the content is sealed')

  const second = await prepareWithWriter(app, scope, ['en'], writer)
  assert.deepEqual(second.items, first.items)
  assert.equal(countItems(calls), MIN_ACTIVE_ITEMS, 'no item was written for the second mandate')

  const { scope: otherScope } = await createPartner(app)
  const { writer: otherWriter, calls: otherCalls } = await startItemWriter(t, [respondToWriter()])
  const other = await prepareWithWriter(app, otherScope, ['en'], otherWriter)
  assert.equal(countItems(otherCalls), MIN_ACTIVE_ITEMS, 'organisations do not share items')
  assert.ok(other.items.every(({ id }) => !first.items.some((item) => item.id === id)))
})

test('missing languages are translated and stored, and existing ones are not translated again', async (t) => {
  const app = await startSharedApp()
  const { scope } = await createPartner(app)
  const { writer, calls } = await startItemWriter(t, [respondToWriter()])
  const first = await prepareWithWriter(app, scope, ['en', 'hi'], writer)
  assert.deepEqual(first.languages, ['en', 'hi'])
  for (const { texts } of first.items) {
    assert.equal(texts.hi!.stem, inScript(texts.en!.stem, 'hi'))
    assert.deepEqual(
      texts.hi!.options,
      texts.en!.options.map((option) => inScript(option, 'hi')),
      'the key stays first',
    )
  }
  assert.deepEqual(translatedLanguages(calls), ['hi'])

  // Responses have shown another difficulty than the author's, which stays the prior.
  await app.context.db.queries
    .updateTable('skill_items')
    .set({ difficulty: 2.5 })
    .where('item_id', '=', first.items[0]!.id)
    .execute()
  const second = await prepareWithWriter(app, scope, ['hi', 'ta'], writer)
  assert.deepEqual(second.languages.toSorted(), ['en', 'hi', 'ta'])
  assert.deepEqual(translatedLanguages(calls), ['hi', 'ta'])
  assert.equal(countItems(calls), MIN_ACTIVE_ITEMS)
  assert.equal(second.items[0]!.difficulty, 2.5)
  await app.context.db.queries
    .updateTable('skill_items')
    .set({ difficulty: null })
    .where('item_id', '=', first.items[0]!.id)
    .execute()

  const third = await prepareWithWriter(app, scope, ['en', 'hi', 'ta'], writer)
  assert.deepEqual(translatedLanguages(calls), ['hi', 'ta'])
  assert.equal(third.items[0]!.difficulty, first.items[0]!.difficulty)
  assert.deepEqual(
    third.items.map(({ id }) => id),
    first.items.map(({ id }) => id),
  )
})

test('a translation whose key another call does not confirm is dropped, and translated once more', async (t) => {
  const app = await startSharedApp()
  const { scope } = await createPartner(app)
  const confusedOption = inScript(SITUATIONS[0][1], 'hi')
  /** Exchanges the key and a distractor of the first item, in the first `count` translations. */
  const confuse = (count: number): AiResponder => {
    const respond = respondToWriter()
    let remaining = count
    return (call, response) => {
      if (!isTranslation(call) || remaining-- <= 0) return respond(call, response)
      const texts = call.data.texts.map((text) => inScript(text, 'hi'))
      const key = texts.indexOf(confusedOption)
      respondWithCompletion({ hi: texts.with(key, texts[key + 1]!).with(key + 1, texts[key]!) })(call, response)
    }
  }
  const once = await startItemWriter(t, [confuse(1)])
  const first = await prepareWithWriter(app, scope, ['en', 'hi'], once.writer)
  assert.deepEqual(first.languages, ['en', 'hi'])
  const translations = once.calls.filter(isTranslation)
  assert.deepEqual(
    translations.map(({ data }) => data.texts.length),
    [5 * MIN_ACTIVE_ITEMS, 5],
  )
  const keys = first.items.map(({ texts }) => texts.hi!.options[0])
  assert.deepEqual(
    keys,
    first.items.map(({ texts }) => inScript(texts.en!.options[0]!, 'hi')),
  )
  for (const { data } of once.verificationCalls) assert.deepEqual(Object.keys(data), ['items'], 'the key is not sent')

  const { scope: otherScope } = await createPartner(app)
  const always = await startItemWriter(t, [confuse(2)])
  const second = await prepareWithWriter(app, otherScope, ['en', 'hi'], always.writer)
  const confused = second.items.filter(({ texts }) => !texts.hi)
  assert.deepEqual(
    confused.map(({ texts }) => texts.en!.options[0]),
    [SITUATIONS[0][1]],
  )
  assert.deepEqual(second.languages, ['en'], 'there are too few items in Hindi')
})

test('a retired item is replaced by a new one', async (t) => {
  const app = await startSharedApp()
  const { scope } = await createPartner(app)
  const { writer, calls } = await startItemWriter(t, [respondToWriter()])
  const first = await prepareWithWriter(app, scope, ['en'], writer)
  const retiredId = first.items[3]!.id
  await app.context.db.queries
    .updateTable('skill_items')
    .set({ status: 'retired' })
    .where('item_id', '=', retiredId)
    .execute()
  const second = await prepareWithWriter(app, scope, ['en'], writer)
  assert.equal(second.items.length, MIN_ACTIVE_ITEMS)
  assert.ok(second.items.every(({ id }) => id !== retiredId))
  assert.equal(countItems(calls), MIN_ACTIVE_ITEMS + 1)
})

test('a new item is not the same as one that exists', async (t) => {
  const app = await startSharedApp()
  const { scope } = await createPartner(app)
  const { writer } = await startItemWriter(t, [respondToWriter()])
  const first = await prepareWithWriter(app, scope, ['en'], writer)
  await app.context.db.queries
    .updateTable('skill_items')
    .set({ status: 'retired' })
    .where('item_id', '=', first.items.at(-1)!.id)
    .execute()
  // The writer begins with items that exist.
  const { writer: repeatingWriter } = await startItemWriter(t, [respondToWriter(0), respondToWriter(12)])
  const second = await prepareWithWriter(app, scope, ['en'], repeatingWriter)
  const optionSets = second.items.map(({ texts }) => texts.en!.options.toSorted().join('|'))
  assert.equal(new Set(optionSets).size, MIN_ACTIVE_ITEMS)
})

test('two processes that prepare mandates with the same skill store its items once', async (t) => {
  const app = await startSharedApp()
  const { scope } = await createPartner(app)
  const mandateIds = [
    await createWeldingMandate(app, scope, ['en', 'hi']),
    await createWeldingMandate(app, scope, ['en', 'ta']),
  ]
  const { promise: bothAreWriting, resolve: continueWriting } = Promise.withResolvers<void>()
  let writeCount = 0
  const plainWriter = fakeItemWriter()
  const slowWriter = fakeItemWriter({
    async writeItems(request) {
      if (++writeCount === 2) continueWriting()
      await bothAreWriting
      return plainWriter.writeItems(request)
    },
    async translate({ texts, to }) {
      return Object.fromEntries(to.map((language) => [language, texts.map((text) => inScript(text, language))]))
    },
  })
  const prepare = () => openPreparer({ ...app.context, writer: slowWriter }).prepareAll()
  await Promise.all([prepare(), prepare()])
  assert.equal(writeCount, 2)
  const [first, second] = await Promise.all(
    mandateIds.map(async (id) => (await getFlow(app.context.db.queries, scope, id, 1)).skills[0]!),
  )
  assert.equal((await readRows(app, scope)).length, MIN_ACTIVE_ITEMS)
  assert.deepEqual(
    first!.items.map(({ id }) => id),
    second!.items.map(({ id }) => id),
  )
  assert.ok(first!.languages.includes('hi') && second!.languages.includes('ta'))
  const { writer, calls } = await startItemWriter(t, [respondToWriter()])
  const third = await prepareWithWriter(app, scope, ['en', 'hi', 'ta'], writer)
  assert.deepEqual(third.languages.toSorted(), ['en', 'hi', 'ta'], 'no translation was lost')
  assert.equal(calls.length, 0)
})
