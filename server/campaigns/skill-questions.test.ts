import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { inviteCandidates, keyIndex } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { insertResponses } from '../../test/support/item-responses.ts'
import { aCandidate, type CampaignPartner, createCampaignPartner } from '../../test/support/partners.ts'
import { insertPrivateItems } from '../../test/support/private-items.ts'
import { skillNumber } from '../catalogue/ids.ts'
import { itemById, responsesOf } from '../conversation/skill-form.ts'
import { updateItemStatistics } from '../items/statistics-job.ts'
import { KEY } from '../measurement/form.ts'
import { MAX_ITEMS, MIN_ITEMS, weighResponses } from '../measurement/sequential-test.ts'
import { SECOND } from '../platform/clock.ts'
import { loadBank } from '../questions/bank/bank.ts'
import { MIN_ACTIVE_ITEMS } from '../questions/skill-items.ts'

const WIRING = 'sk_2001'
const EARTHING = 'sk_2020'

const startSharedApp = oncePerFile((t) => startApp(t))

interface SetUpOptions {
  mandate?: object
  workflow?: object
}

/** Creates a mandate that verifies house wiring and asks nothing else. */
async function setUp({ mandate, workflow }: SetUpOptions = {}) {
  const app = await startSharedApp()
  app.clock.set('2026-03-11T06:30:00.000Z') // noon in India
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate(workflow, {
    skills: [{ skill_id: WIRING, verify: true }],
    methods: ['skill_verification'],
    ...mandate,
  })
  const invite = (...candidates: ReturnType<typeof aCandidate>[]) =>
    inviteCandidates(app, partner, mandate_id, candidates)
  return { app, partner, mandateId: mandate_id, invite, clock: app.clock, db: app.context.db }
}

type Invited = Awaited<ReturnType<typeof inviteCandidates>>[number]

/** Decides for each question about a skill whether it is answered correctly. */
type Answers = 'right' | 'wrong' | 'mixed' | ((item: number) => boolean)

/** Answers the current question about a skill and returns the next turn. */
async function answerItem({ page, getCandidacy }: Invited, answers: Answers) {
  const { state, flow } = await getCandidacy()
  const { skill, item } = state.point as { skill: number; item: number }
  const key = keyIndex(state)!
  const isCorrect =
    typeof answers === 'function' ? answers(item) : answers === 'mixed' ? isRightNext() : answers === 'right'
  return page.reply({ value: String(isCorrect ? key : (key + 1) % 4) })

  /** Keeps the evidence between the two verdicts: wrong unless one more wrong answer would decide. */
  function isRightNext() {
    const { difficulty, isUnpiloted = false } = itemById(flow, skill, state.skills[skill]![item]!.id)
    const responses = [...responsesOf(state, flow, skill), { difficulty, isUnpiloted, isCorrect: false }]
    return weighResponses(responses).verdict !== 'inconclusive'
  }
}

/** Consents and answers all questions about skills. Returns the last turn. */
async function complete(invited: Invited, answers: Answers, beforeAnswer: () => void = () => {}) {
  let turn = await invited.page.reply({ value: 'yes' })
  while (turn.prompts.at(-1).kind === 'choices') {
    beforeAnswer()
    turn = await answerItem(invited, answers)
  }
  return turn
}

const formOf = async ({ getCandidacy }: Invited, skill = 0) => (await getCandidacy()).state.skills[skill]!
const itemIds = async (invited: Invited, skill = 0) => (await formOf(invited, skill)).map(({ id }) => id)

test('candidates of one campaign are asked different items, with the options in different orders', async () => {
  const { invite } = await setUp()
  const invited = await invite(...Array.from({ length: 16 }, (_, index) => aCandidate(index)))
  const shown: { text: string; options: string[] }[][] = []
  for (const { page } of invited) {
    const { prompts, ahead } = await page.reply({ value: 'yes' })
    const questions = [...prompts, ...ahead].filter(({ kind }: any) => kind === 'choices')
    assert.equal(questions.length, MIN_ITEMS, 'the first items can be answered offline')
    const labels = (question: any) => question.choices.map(({ label }: any) => label)
    shown.push(questions.map((question: any) => ({ text: question.text, options: labels(question) })))
  }
  for (const questions of shown) assert.equal(new Set(questions.map(({ text }) => text)).size, MIN_ITEMS)
  const sequences = shown.map((questions) => questions.map(({ text }) => text).join('\n'))
  assert.equal(new Set(sequences).size, invited.length)
  // Only the first question of a skill has an introduction.
  const laterQuestions = shown.flatMap((questions) => questions.slice(1))
  const askedTwice = [...Map.groupBy(laterQuestions, ({ text }) => text).values()].filter(({ length }) => length > 1)
  assert.ok(askedTwice.length > 0)
  assert.ok(askedTwice.some((questions) => new Set(questions.map(({ options }) => options.join('\n'))).size > 1))
  const forms = await Promise.all(invited.map((candidate) => formOf(candidate)))
  const keyPositions = forms.flat().map(({ options }) => options.indexOf(KEY))
  assert.deepEqual([...new Set(keyPositions)].sort(), [0, 1, 2, 3])
})

test('a test ends after four right answers; the result, its event and its pull contain verdict and evidence', async () => {
  const { invite, partner, clock, app } = await setUp({ workflow: { languages: ['en', 'hi'] } })
  const [invited] = await invite(aCandidate(1, { language: 'hi' }))
  await complete(invited!, 'right', () => clock.advance(7 * SECOND))
  const result = await invited!.getResult()
  const { qualified, reasons, skills } = result.output
  assert.deepEqual([result.status, qualified, reasons], ['completed', true, []])
  assert.equal(skills.length, 1)
  const { confidence, summary, ...verdict } = skills[0]
  assert.deepEqual(verdict, {
    skill_id: WIRING,
    name: 'House wiring',
    verdict: 'verified',
    correct: MIN_ITEMS,
    asked: MIN_ITEMS,
    evidence: { item_source: 'bank', language: 'hi', items: MIN_ITEMS, unpiloted_items: 0, median_seconds: 7 },
  })
  assert.ok(confidence >= 0.95 && confidence < 1, `${confidence}`)
  assert.equal(summary, `4 of 4 correct, ${Math.floor(confidence * 100)} % certain`)
  await app.context.events.flush(partner.scope)
  const events = (await partner.get('/events?types=result.completed')).body.data.items
  assert.deepEqual(
    events.map(({ data }: any) => data),
    [result],
  )
  assert.deepEqual((await partner.get('/results')).body.data.items, [result])
})

test('answers to items that nobody has answered before weigh less, until the items are piloted', async () => {
  const { app, partner, invite } = await setUp()
  const { orgId } = partner.scope
  const ids = await insertPrivateItems(app.context, orgId, { skillNumber: 2001, count: MIN_ACTIVE_ITEMS })
  const mandate = { skills: [{ skill_id: WIRING, verify: true }], methods: ['skill_verification' as const] }
  const answerNewMandate = async (number: number) => {
    const { mandate_id } = await partner.createMandate({}, mandate)
    const [invited] = await inviteCandidates(app, partner, mandate_id, [aCandidate(number)])
    await complete(invited!, 'right')
    const [skill] = (await invited!.getResult()).output.skills
    return { skill, form: await formOf(invited!) }
  }
  const unpiloted = await answerNewMandate(1)
  assert.equal(unpiloted.skill.verdict, 'verified')
  assert.deepEqual([unpiloted.skill.evidence.items, unpiloted.skill.evidence.unpiloted_items], [5, 5])
  assert.ok(unpiloted.skill.confidence < 0.975, `${unpiloted.skill.confidence}`)

  for (const itemId of ids)
    await insertResponses(app, { orgId, itemId, skillNumber: 2001, source: 'private', count: 60 })
  await updateItemStatistics(app.context)
  const [newId] = await insertPrivateItems(app.context, orgId, { skillNumber: 2001, count: 1 })
  const piloted = await answerNewMandate(2)
  assert.deepEqual([piloted.skill.evidence.items, piloted.skill.evidence.unpiloted_items], [MIN_ITEMS, 0])
  assert.deepEqual(
    piloted.form.filter(({ pilot }) => pilot).map(({ id }) => id),
    [newId],
    'an item that nobody has answered is not scored, because the others suffice',
  )

  const [other] = await invite(aCandidate(3))
  await complete(other!, 'right')
  const [prepared] = (await other!.getResult()).output.skills
  assert.equal(prepared.evidence.item_source, 'bank', 'a mandate keeps the items with which it was prepared')
})

test('four wrong answers do not verify a skill, and the reason is in the result', async () => {
  const { invite } = await setUp({
    mandate: { skills: [WIRING, EARTHING].map((skill_id) => ({ skill_id, verify: true })) },
  })
  const [invited] = await invite(aCandidate(1))
  await complete(invited!, 'wrong')
  const { output } = await invited!.getResult()
  assert.equal(output.qualified, false)
  assert.deepEqual(
    output.skills.map(({ verdict, correct, asked }: any) => [verdict, correct, asked]),
    Array(2).fill(['not_verified', 0, MIN_ITEMS]),
  )
  for (const { confidence } of output.skills) assert.ok(confidence >= 0.95 && confidence < 1)
  assert.deepEqual(
    output.reasons,
    [WIRING, EARTHING].map((skill_id) => ({ kind: 'skill_not_verified', skill_id })),
  )
})

test('with mixed answers a test continues to eight items, is inconclusive, and leaves the qualification open', async () => {
  const { invite, partner } = await setUp()
  const [invited] = await invite(aCandidate(1))
  await complete(invited!, 'mixed')
  assert.equal(new Set(await itemIds(invited!)).size, MAX_ITEMS, 'eight different items')
  const result = await invited!.getResult()
  const { qualified, reasons, skills } = result.output
  assert.deepEqual([result.status, qualified], ['completed', null])
  assert.deepEqual(reasons, [{ kind: 'skill_inconclusive', skill_id: WIRING }])
  const [{ verdict, asked, correct, confidence, evidence }] = skills
  assert.deepEqual([verdict, asked, evidence.items], ['inconclusive', MAX_ITEMS, MAX_ITEMS])
  assert.ok(correct > 0 && correct < MAX_ITEMS)
  assert.ok(confidence >= 0.5 && confidence < 0.95, `${confidence}`)
  const { funnel } = (await partner.get('/analytics/overview')).body.data
  assert.deepEqual([funnel.completed, funnel.qualified], [1, 0])
})

test('a knockout answer is a reason, whatever the verdicts', async () => {
  const { invite } = await setUp({ mandate: { methods: ['data_enrichment', 'skill_verification'] } })
  const [invited] = await invite(aCandidate(1))
  await invited!.page.reply({ value: 'yes' })
  await invited!.page.reply({ value: 'no' })
  const { status, output } = await invited!.getResult()
  assert.deepEqual(
    [status, output.qualified, output.reasons],
    ['completed', false, [{ kind: 'knockout', key: 'licence' }]],
  )
  assert.deepEqual(
    output.skills.map(({ verdict, confidence, evidence }: any) => [verdict, confidence, evidence]),
    [['not_asked', null, null]],
  )
})

test('a candidate who refuses, stops or does not finish is neither qualified nor disqualified', async () => {
  const { invite } = await setUp()
  const [refusing, stopping] = await invite(aCandidate(1), aCandidate(2))
  await refusing!.page.reply({ value: 'no' })
  await stopping!.page.reply({ value: 'yes' })
  await answerItem(stopping!, 'wrong')
  await answerItem(stopping!, 'wrong')
  const unfinished = await stopping!.getResult()
  assert.deepEqual([unfinished.status, unfinished.output.qualified], ['pending', null])
  await stopping!.page.reply({ text: 'STOP' })
  for (const { getResult } of [refusing!, stopping!]) {
    const { status, output } = await getResult()
    assert.deepEqual([status, output.qualified, output.reasons], ['declined', null, []])
    assert.deepEqual([output.skills[0].verdict, output.skills[0].confidence], ['not_asked', null])
  }
})

test('a candidate is not qualified by a mandate that verifies no skill, although it has the method', async () => {
  const { invite } = await setUp({
    mandate: {
      skills: [{ skill_id: WIRING, verify: false }],
      methods: ['skill_verification', 'interest_collection'],
    },
  })
  const [invited] = await invite(aCandidate(1))
  await invited!.page.reply({ value: 'yes' })
  await invited!.page.reply({ value: 'yes' })
  const { status, output } = await invited!.getResult()
  assert.deepEqual(
    [status, output.qualified, output.reasons, output.skills, output.interest],
    ['completed', null, [], [], 'interested'],
  )
})

test('the last answer about a skill can be corrected once, also when it was the last one of the test', async () => {
  const { invite } = await setUp({ mandate: { methods: ['skill_verification', 'interest_collection'] } })
  const [invited, other] = await invite(aCandidate(1), aCandidate(2))
  const { page } = invited!
  const first = await page.reply({ value: 'yes' })
  assert.equal(first.prompts.at(-1).back, false, 'there is no earlier question')
  const second = await answerItem(invited!, 'wrong')
  assert.equal(second.prompts.at(-1).back, true)
  const again = await page.reply({ value: 'back' })
  const { text, choices, ask } = again.prompts.at(-1)
  assert.deepEqual({ text, choices, ask }, pick(first.prompts.at(-1)))
  assert.equal(again.prompts.at(-1).back, false, 'only the last answer can be corrected')
  const secondAgain = await answerItem(invited!, 'right')
  assert.deepEqual(pick(secondAgain.prompts.at(-1)), pick(second.prompts.at(-1)))
  let turn = secondAgain
  while (turn.prompts.at(-1).kind === 'choices') turn = await answerItem(invited!, 'right')
  assert.equal(turn.prompts.at(-1).ask, 'interest')
  assert.equal((await itemIds(invited!)).length, MIN_ITEMS)
  assert.equal(turn.prompts.at(-1).back, false, 'one answer per skill can be corrected')

  // With one wrong answer, the test needs more items.
  turn = await other!.page.reply({ value: 'yes' })
  while (turn.prompts.at(-1).kind === 'choices') turn = await answerItem(other!, 'right')
  assert.equal(turn.prompts.at(-1).back, true)
  turn = await other!.page.reply({ value: 'back' })
  assert.equal(turn.prompts.at(-1).ask, `skills.0.${MIN_ITEMS - 1}`)
  turn = await answerItem(other!, 'wrong')
  assert.equal(turn.prompts.at(-1).ask, `skills.0.${MIN_ITEMS}`)
  while (turn.prompts.at(-1).kind === 'choices') turn = await answerItem(other!, 'right')
  await other!.page.reply({ value: 'yes' })
  const { skills } = (await other!.getResult()).output
  const form = await formOf(other!)
  assert.deepEqual([skills[0].asked, skills[0].correct], [form.length, form.length - 1])
  assert.equal(new Set(form.map(({ id }) => id)).size, form.length)

  function pick({ text, choices, ask }: any) {
    return { text, choices, ask }
  }
})

test('no item is repeated to the same person in another campaign', async () => {
  const { app, partner, mandateId, invite } = await setUp()
  const email = 'asha@example.com'
  const [first] = await invite(aCandidate(1, { email }))
  await complete(first!, 'mixed')
  const seen = new Set(await itemIds(first!))
  assert.equal(seen.size, MAX_ITEMS)
  const samePhone = aCandidate(1)
  const sameEmail = aCandidate(2, { email: 'Asha@Example.com' })
  for (const candidate of [samePhone, sameEmail]) {
    const [again] = await inviteCandidates(app, partner, mandateId, [candidate])
    await complete(again!, 'right')
    const ids = await itemIds(again!)
    assert.deepEqual(
      ids.filter((id) => seen.has(id)),
      [],
    )
  }
})

test('of many campaigns of the same person, the newest ones count', async () => {
  const { app, db, partner, mandateId, invite } = await setUp()
  const [first] = await invite(aCandidate(1))
  await db.pool.query(
    `insert into candidates select (jsonb_populate_record(c, jsonb_build_object('candidate_id', c.candidate_id || n,
        'campaign_id', c.campaign_id || n, 'token_hash', '\\x' || md5(c.candidate_id || n),
        'enrolled_at', c.enrolled_at - n * interval '1 day'))).*
      from candidates c, generate_series(1, 30) as n where candidate_id = $1`,
    [first!.candidateId],
  )
  app.clock.advance(1000)
  const [second] = await inviteCandidates(app, partner, mandateId, [aCandidate(1)])
  await complete(second!, 'mixed')
  const seen = new Set(await itemIds(second!))
  const [third] = await inviteCandidates(app, partner, mandateId, [aCandidate(1)])
  await complete(third!, 'mixed')
  assert.deepEqual(
    (await itemIds(third!)).filter((id) => seen.has(id)),
    [],
  )
})

test('when a person has seen all items, items are asked again', async () => {
  const { app, partner, mandateId } = await setUp({ mandate: { skills: [{ skill_id: EARTHING, verify: true }] } })
  const itemCount = (await loadBank()).itemsOf(skillNumber(EARTHING)!).length
  const seen = new Set<string>()
  for (let campaign = 0; campaign * MAX_ITEMS <= itemCount; campaign++) {
    const [invited] = await inviteCandidates(app, partner, mandateId, [aCandidate(1)])
    await complete(invited!, 'mixed')
    const ids = await itemIds(invited!)
    assert.equal(new Set(ids).size, MAX_ITEMS)
    const repeated = ids.filter((id) => seen.has(id))
    const unusedCount = itemCount - seen.size
    assert.equal(repeated.length, Math.max(0, MAX_ITEMS - unusedCount))
    for (const id of ids) seen.add(id)
  }
  assert.equal(seen.size, itemCount)
})

async function listResponses(partner: CampaignPartner, db: Awaited<ReturnType<typeof setUp>>['db']) {
  return db.queries
    .selectFrom('item_responses')
    .selectAll()
    .where('org_id', '=', partner.orgId)
    .orderBy('response_id')
    .execute()
}

test('responses are stored without the person when a conversation ends', async () => {
  const { invite, partner, clock, db } = await setUp()
  const [finishing, stopping] = await invite(aCandidate(1), aCandidate(2))
  await finishing!.page.reply({ value: 'yes' })
  assert.deepEqual(await listResponses(partner, db), [], 'nothing is stored before the end')
  let turn = await finishing!.page.view()
  while (turn.prompts.at(-1).kind === 'choices') {
    clock.advance(9 * SECOND)
    turn = await answerItem(finishing!, (item) => item !== 1)
  }
  await stopping!.page.reply({ value: 'yes' })
  await answerItem(stopping!, 'right')
  await stopping!.page.reply({ text: 'STOP' })

  const rows = await listResponses(partner, db)
  const form = await formOf(finishing!)
  const bankItems = new Map((await loadBank()).itemsOf(skillNumber(WIRING)!).map((item) => [item.id, item]))
  assert.ok(form.length > MIN_ITEMS)
  assert.equal(rows.length, form.length + 1)
  for (const [index, { response_id, rest_ability, day, ...row }] of rows.slice(0, form.length).entries()) {
    const { id, options, choice } = form[index]!
    assert.ok(bankItems.has(id))
    assert.deepEqual(row, {
      org_id: partner.orgId,
      mode: 'test',
      item_id: id,
      skill_number: 2001,
      source: 'bank',
      option: options[choice!],
      is_correct: index !== 1,
      is_scored: true,
      seconds: 9,
      language: 'en',
      position: index + 1,
      channel: 'page',
    })
  }
  const [right, wrong] = rows
  assert.ok(wrong!.rest_ability > right!.rest_ability, 'the other responses of the wrong one are all right')
  assert.equal(rows.at(-1)!.item_id, (await formOf(stopping!))[0]!.id)
  assert.equal(rows.at(-1)!.position, 1)
  const contents = JSON.stringify(rows)
  for (const { candidateId } of [finishing!, stopping!]) assert.ok(!contents.includes(candidateId))
  assert.doesNotMatch(contents, /Person|\+9198/)
})

test('items that are retired after the preparation of a mandate are not drawn any more', async () => {
  const { invite, db, clock } = await setUp({ mandate: { skills: [{ skill_id: 'sk_2076', verify: true }] } })
  const items = (await loadBank()).itemsOf(2076)
  const [activeItems, retiredItems] = [items.slice(0, MIN_ACTIVE_ITEMS), items.slice(MIN_ACTIVE_ITEMS)]
  assert.ok(retiredItems.length > 0)
  const retire = (item_id: string) => ({
    item_id,
    skill_number: 2076,
    status: 'retired',
    updated_at: new Date(clock.now()),
  })
  await db.queries
    .insertInto('bank_items')
    .values(retiredItems.map(({ id }) => retire(id)))
    .execute()
  const invited = await invite(aCandidate(1), aCandidate(2), aCandidate(3))
  for (const candidate of invited) await complete(candidate, 'mixed')
  const asked = (await Promise.all(invited.map((candidate) => itemIds(candidate)))).flat()
  assert.equal(asked.length, 3 * MAX_ITEMS)
  const activeIds = new Set(activeItems.map(({ id }) => id))
  assert.deepEqual(
    asked.filter((id) => !activeIds.has(id)),
    [],
  )
})

test('a candidate whose language has no items chooses the language of the questions', async () => {
  const { invite } = await setUp({
    workflow: { languages: ['en', 'hi', 'or'] },
    mandate: { methods: ['data_enrichment', 'skill_verification'] },
  })
  const [invited] = await invite(aCandidate(1, { language: 'or' }))
  const { page, getResult, getCandidacy } = invited!
  await page.reply({ value: 'yes' })
  await page.reply({ value: 'yes' })
  let turn = await page.reply({ text: 'ଆସନ୍ତାକାଲି' })
  const question = turn.prompts.at(-1)
  assert.equal(question.ask, 'skill_language')
  const { languages } = (await getCandidacy()).flow.skills[0]!
  assert.deepEqual(
    question.choices.map(({ value }: any) => value),
    languages,
  )
  assert.ok(languages.includes('hi') && !languages.includes('or'))
  turn = await page.reply({ value: 'hi' })
  while (turn.prompts.at(-1).kind === 'choices') {
    assert.match(turn.prompts.at(-1).text.split('\n').at(-1), /\p{Script=Devanagari}/u)
    turn = await answerItem(invited!, 'right')
  }
  const { output } = await getResult()
  assert.equal(output.language, 'or', 'the language of the conversation stays')
  assert.deepEqual([output.skills[0].verdict, output.skills[0].evidence.language], ['verified', 'hi'])
})
