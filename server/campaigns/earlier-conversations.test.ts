import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { inviteCandidates } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { aCandidate, createCampaignPartner } from '../../test/support/partners.ts'

// Flows and conversations as they were stored before items were drawn for each candidate.

const SKILLS = ['Bricklaying', 'House wiring'].map((name, skill) => ({
  skill_id: ['sk_1001', 'sk_2001'][skill],
  name,
  items: [0, 1, 2].map((item) => ({
    item_id: `${skill}-${item}`,
    key: (skill + item) % 4,
    difficulty: (item % 3) + 1,
    text: {
      en: { stem: `${name} ${item}?`, options: ['A', 'B', 'C', 'D'].map((letter) => `${letter} of ${name} ${item}`) },
    },
  })),
}))

const EARLIER_FLOW = {
  methods: ['data_enrichment', 'skill_verification', 'interest_collection'],
  languages: ['en', 'hi'],
  company_name: 'Metro Ltd',
  title: 'Mason',
  enrichment: [{ key: 'licence', type: 'yes_no', text: { en: 'Licence?' }, knockout: 'no', required: true }],
  skills: SKILLS,
  interest: true,
}

function earlierState(changes: object) {
  return {
    step: 1,
    point: { at: 'consent' },
    language: 'en',
    languageKnown: true,
    misses: 0,
    enrichment: [],
    skills: [],
    interest: null,
    ending: null,
    ...changes,
  }
}

const startSharedApp = oncePerFile((t) => startApp(t))

/** Enrols a candidate in a mandate with a flow of the earlier format, and stores a conversation of the earlier format. */
async function setUp(state: object) {
  const app = await startSharedApp()
  const { queries } = app.context.db
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await queries
    .updateTable('mandate_flows')
    .set({ flow: JSON.stringify(EARLIER_FLOW) })
    .where('mandate_id', '=', mandate_id)
    .execute()
  const [invited] = await inviteCandidates(app, partner, mandate_id, [aCandidate(1, { language: 'en' })])
  await queries
    .updateTable('candidate_progress')
    .set({ conversation: JSON.stringify(earlierState(state)) })
    .where('candidate_id', '=', invited!.candidateId)
    .execute()
  return { ...invited!, partner, queries, mandateId: mandate_id }
}

test('a conversation that had begun continues with the same questions and ends with a verdict', async () => {
  const { page, getResult, partner, queries } = await setUp({
    step: 5,
    point: { at: 'skills', skill: 0, item: 2 },
    enrichment: ['yes'],
    skills: [[0, 0]], // right and wrong
  })
  let turn = await page.view()
  assert.deepEqual([turn.step, turn.progress.done], [5, 3])
  const pending = await getResult()
  assert.deepEqual(
    pending.output.skills.map(({ verdict, correct, asked }: any) => [verdict, correct, asked]),
    [
      ['not_asked', 1, 2],
      ['not_asked', 0, 0],
    ],
  )
  const asked: string[] = []
  // The last answer of the first skill is right, those of the second are right, wrong and wrong.
  for (const choice of [2, 1, 3, 0]) {
    const { text, choices } = turn.prompts.at(-1)
    asked.push(text.split('\n').at(-1))
    const letters = choices.map(({ label }: any) => label[0]).join('')
    assert.equal(letters, 'ABCD', 'the options are in their stored order')
    turn = await page.reply({ value: String(choice) })
  }
  assert.deepEqual(asked, ['Bricklaying 2?', 'House wiring 0?', 'House wiring 1?', 'House wiring 2?'])
  assert.equal(turn.prompts.at(-1).ask, 'interest')
  await page.reply({ value: 'yes' })

  const { status, output } = await getResult()
  assert.deepEqual([status, output.qualified, output.interest], ['completed', false, 'interested'])
  assert.deepEqual(output.reasons, [{ kind: 'skill_not_verified', skill_id: 'sk_2001' }])
  assert.deepEqual(
    output.skills.map(({ verdict, correct, asked, confidence, evidence }: any) => ({
      verdict,
      correct,
      asked,
      confidence,
      evidence,
    })),
    [
      { verdict: 'verified', correct: 2, asked: 3, confidence: null, evidence: null },
      { verdict: 'not_verified', correct: 1, asked: 3, confidence: null, evidence: null },
    ],
  )
  const responses = await queries
    .selectFrom('item_responses')
    .select('item_id')
    .where('org_id', '=', partner.orgId)
    .execute()
  assert.deepEqual(responses, [], 'the items have no statistics')
})

test('a conversation that had not begun asks the questions of its mandate', async () => {
  const { page, getResult } = await setUp({})
  await page.reply({ value: 'yes' })
  let turn = await page.reply({ value: 'yes' })
  assert.equal(turn.prompts.at(-1).text.split('\n').at(-1), 'Bricklaying 0?')
  const upcoming = turn.ahead.map(({ text }: any) => text.split('\n').at(-1))
  assert.deepEqual(upcoming.slice(0, 2), ['Bricklaying 1?', 'Bricklaying 2?'])
  for (const choice of [0, 1, 2, 1, 2, 3]) turn = await page.reply({ value: String(choice) })
  await page.reply({ value: 'yes' })
  const { output } = await getResult()
  assert.equal(output.qualified, true)
  assert.deepEqual(
    output.skills.map(({ verdict, correct }: any) => [verdict, correct]),
    Array(2).fill(['verified', 3]),
  )
})

test('a conversation that had ended keeps its verdicts, and its mandate shows the questions', async () => {
  const { getResult, partner, queries, candidateId, mandateId } = await setUp({
    step: 12,
    point: { at: 'ended' },
    enrichment: ['yes'],
    skills: [
      [0, 1, 2],
      [1, 2, 0],
    ],
    interest: true,
    ending: 'completed',
  })
  await queries
    .updateTable('candidate_progress')
    .set({ status: 'completed' })
    .where('candidate_id', '=', candidateId)
    .execute()
  const { output } = await getResult()
  assert.equal(output.qualified, true)
  assert.deepEqual(
    output.skills.map(({ verdict, correct, asked }: any) => [verdict, correct, asked]),
    [
      ['verified', 3, 3],
      ['verified', 2, 3],
    ],
  )
  const { questions } = (await partner.get(`/mandates/${mandateId}`)).body.data
  assert.deepEqual(questions.skills[0], {
    skill_id: 'sk_1001',
    name: 'Bricklaying',
    items: SKILLS[0]!.items.map(({ difficulty, text }) => ({
      difficulty,
      stem: { en: text.en.stem },
      options: { en: text.en.options },
    })),
  })
})
