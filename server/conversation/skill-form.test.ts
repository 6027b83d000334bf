import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KEY } from '../measurement/form.ts'
import { MAX_ITEMS, MIN_ITEMS } from '../measurement/sequential-test.ts'
import type { SkillItem } from '../questions/skill-items.ts'
import { advance, currentPrompts, startConversation } from './conversation.ts'
import type { ConversationFlow, FlowSkill } from './flow.ts'
import { render } from './render.ts'
import type { ConversationState } from './state.ts'
import { upcomingPrompts } from './upcoming-questions.ts'
import { isQualified, progressOf, qualificationReasons, verdictsOf } from './verdicts.ts'

function item(pool: number, stem: number, more: Partial<SkillItem> = {}): SkillItem {
  const options = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `${letter}${pool}`)
  const [key] = options.splice(stem, 1)
  return {
    id: `${pool}.${stem}`,
    pool: String(pool),
    kind: pool % 2 ? 'tool' : 'fault',
    difficulty: (stem % 3) - 1,
    texts: { en: { stem: `Question ${pool}.${stem}?`, options: [key!, ...options] } },
    ...more,
  }
}

function skillOf(poolCount: number, more: Partial<FlowSkill> = {}): FlowSkill {
  const pools = Array.from({ length: poolCount }, (_, pool) => pool)
  return {
    skill_id: 'sk_1',
    name: 'House wiring',
    source: 'bank',
    languages: ['en'],
    items: pools.flatMap((pool) => [0, 1, 2, 3, 4, 5].map((stem) => item(pool, stem))),
    ...more,
  }
}

const flowOf = (...skills: FlowSkill[]): ConversationFlow => ({
  methods: ['skill_verification'],
  languages: ['en', 'ta'],
  company_name: 'Metro Ltd',
  title: 'Electrician',
  enrichment: [],
  skills,
  interest: false,
})

type Answer = 'right' | 'wrong'

function reply(state: ConversationState, flow: ConversationFlow, value: string): ConversationState {
  return advance(state, flow, { kind: 'reply', step: state.step, value }, { now: 0, channel: 'whatsapp' }).state
}

function answer(state: ConversationState, flow: ConversationFlow, wanted: Answer): ConversationState {
  const { skill, item: position } = state.point as { skill: number; item: number }
  const key = state.skills[skill]![position]!.options.indexOf(KEY)
  return reply(state, flow, String(wanted === 'right' ? key : (key + 1) % 4))
}

function begin(flow: ConversationFlow, seed = 'seed', seenItems: string[] = []): ConversationState {
  return reply({ ...startConversation('en', true, seed), seenItems }, flow, 'yes')
}

/** Answers until the conversation ends; `answers` is repeated. */
function complete(flow: ConversationFlow, answers: Answer[], seed?: string): ConversationState {
  let state = begin(flow, seed)
  for (let count = 0; state.ending === null; count++) state = answer(state, flow, answers[count % answers.length]!)
  return state
}

const itemIds = ({ skills }: ConversationState) => skills.flat().map(({ id }) => id)

test('a candidate who answers everything right is verified after few items, one who answers wrong is not', () => {
  const flow = flowOf(skillOf(4))
  const [verified] = verdictsOf(complete(flow, ['right']), flow)
  assert.equal(verified!.verdict, 'verified')
  assert.ok(verified!.confidence! >= 0.95 && verified!.confidence! < 1)
  assert.ok(verified!.asked >= MIN_ITEMS && verified!.asked < MAX_ITEMS, `${verified!.asked} items`)
  assert.equal(verified!.correct, verified!.asked)
  const state = complete(flow, ['wrong'])
  assert.equal(verdictsOf(state, flow)[0]!.verdict, 'not_verified')
  assert.equal(isQualified(state, flow), false)
  assert.deepEqual(qualificationReasons(state, flow), [{ kind: 'skill_not_verified', skill_id: 'sk_1' }])
})

test('mixed answers lead to the longest test and may be inconclusive, which leaves the qualification open', () => {
  const flow = flowOf(skillOf(4))
  const state = complete(flow, ['right', 'wrong', 'right'], 'mixed')
  const [skill] = verdictsOf(state, flow)
  assert.deepEqual([skill!.verdict, skill!.asked], ['inconclusive', MAX_ITEMS])
  assert.equal(isQualified(state, flow), null)
  assert.deepEqual(qualificationReasons(state, flow), [{ kind: 'skill_inconclusive', skill_id: 'sk_1' }])
})

test('nobody is qualified without a checked skill', () => {
  const flow = {
    ...flowOf(),
    interest: true,
    methods: ['skill_verification', 'interest_collection'],
  } as ConversationFlow
  assert.equal(isQualified(reply(begin(flow), flow, 'yes'), flow), null)
})

test('an item is never repeated, and each item has four different options', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.array(fc.constantFrom<Answer>('right', 'wrong'), { minLength: 1, maxLength: 10 }),
      (seed, answers) => {
        const flow = flowOf(skillOf(2), skillOf(4, { skill_id: 'sk_2' }))
        const state = complete(flow, answers, seed)
        for (const form of state.skills) {
          assert.equal(new Set(form.map(({ id }) => id)).size, form.length)
          for (const { options } of form) assert.deepEqual([new Set(options).size, options.includes(KEY)], [4, true])
        }
      },
    ),
  )
})

test('candidates get different items, and the order of the options is independent', () => {
  const flow = flowOf(skillOf(4))
  const firstItems = Array.from({ length: 300 }, (_, index) =>
    itemIds(begin(flow, `candidate ${index}`))
      .slice(0, 3)
      .join(),
  )
  assert.ok(new Set(firstItems).size > 280, `${new Set(firstItems).size} different forms`)
  const keyPositions = [0, 0, 0, 0]
  for (let index = 0; index < 2000; index++)
    keyPositions[begin(flow, `candidate ${index}`).skills[0]![0]!.options.indexOf(KEY)]!++
  for (const count of keyPositions) assert.ok(Math.abs(count - 500) < 90, String(keyPositions))
})

test('the state decides the next item: a repeated or resumed reply draws the same one', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.constantFrom<Answer>('right', 'wrong'), { maxLength: 8 }), (seed, answers) => {
      const flow = flowOf(skillOf(4))
      let state = begin(flow, seed)
      for (const wanted of answers) {
        if (state.ending) return
        const stored = JSON.parse(JSON.stringify(state)) as ConversationState
        assert.deepEqual(answer(stored, flow, wanted), answer(state, flow, wanted))
        state = answer(state, flow, wanted)
      }
    }),
  )
})

test('items that the candidate has seen are asked only when there are no others', () => {
  const flow = flowOf(skillOf(2))
  const seen = flow.skills[0]!.items.slice(0, 7).map(({ id }) => id)
  let state = begin(flow, 'seed', seen)
  for (const wanted of ['right', 'wrong', 'right', 'wrong', 'right'] as const) state = answer(state, flow, wanted)
  assert.deepEqual(
    itemIds(state)
      .slice(0, 5)
      .filter((id) => seen.includes(id)),
    [],
  )
})

test('a retired item is not drawn any more, but a candidate who was asked it can answer it', () => {
  const flow = flowOf(skillOf(4))
  const state = begin(flow)
  const asked = itemIds(state)
  const retired = flowOf(
    skillOf(4, {
      items: skillOf(4).items.map((each) =>
        Number(each.pool) > 0 || asked.includes(each.id) ? { ...each, isRetired: true } : each,
      ),
    }),
  )
  let later = state
  for (const wanted of ['right', 'wrong', 'right', 'wrong', 'right', 'wrong'] as const)
    later = answer(later, retired, wanted)
  for (const id of itemIds(later).slice(MIN_ITEMS)) assert.match(id, /^0\./)
})

test('a pilot item is asked and not scored', () => {
  const pilot = item(9, 0, { isPilot: true })
  const flow = flowOf(skillOf(4, { items: [...skillOf(4).items, pilot] }))
  const state = complete(flow, ['right'])
  assert.equal(state.skills[0]!.filter(({ id }) => id === pilot.id).length, 1)
  const [skill] = verdictsOf(state, flow)
  assert.equal(skill!.asked, state.skills[0]!.length - 1)
})

test('the first items are known in advance, and later ones follow from the answers', () => {
  const flow = flowOf(skillOf(4))
  let state = begin(flow)
  const upcoming = upcomingPrompts(state, flow)
  assert.equal(upcoming.length, MIN_ITEMS - 1)
  for (const expected of upcoming) {
    state = answer(state, flow, 'wrong')
    assert.deepEqual(currentPrompts(state, flow), [expected])
  }
  assert.deepEqual(upcomingPrompts(state, flow), [])
})

test('progress never moves backwards', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom<Answer>('right', 'wrong'), { minLength: 1, maxLength: 8 }), (answers) => {
      const flow = flowOf(skillOf(2), skillOf(4))
      let state = begin(flow)
      let share = 0
      for (let count = 0; state.ending === null; count++) {
        state = answer(state, flow, answers[count % answers.length]!)
        const { done, total } = progressOf(state, flow)
        assert.ok(done / total >= share, `${done} of ${total} after ${share}`)
        share = done / total
      }
      assert.equal(share, 1)
    }),
  )
})

test('a candidate whose language has no items chooses another language once', () => {
  const texts = {
    en: { stem: 'Which?', options: ['a', 'b', 'c', 'd'] },
    hi: { stem: 'कौन?', options: ['क', 'ख', 'ग', 'घ'] },
  }
  const items = skillOf(4).items.map((each) => ({ ...each, texts }))
  const flow = flowOf(skillOf(4, { items, languages: ['en', 'hi'] }), skillOf(4, { items, languages: ['en', 'hi'] }))
  let state = reply(startConversation('ta', true, 'seed'), flow, 'yes')
  assert.deepEqual(state.point, { at: 'skill_language', skill: 0 })
  state = reply(state, flow, 'hi')
  assert.deepEqual([state.language, state.point], ['ta', { at: 'skills', skill: 0, item: 0 }])
  assert.match(render(currentPrompts(state, flow).at(-1)!, state, flow, { name: 'Asha' }).text, /कौन\?$/)
  while (state.ending === null) state = answer(state, flow, 'right')
  assert.deepEqual(
    verdictsOf(state, flow).map(({ evidence }) => evidence!.language),
    ['hi', 'hi'],
  )
})

test('a candidate is asked only items that exist in their language', () => {
  const texts = (stem: number) => ({
    en: { stem: 'Which?', options: ['a', 'b', 'c', 'd'] },
    ...(stem < 3 ? { ta: { stem: 'எது?', options: ['அ', 'ஆ', 'இ', 'ஈ'] } } : {}),
  })
  const items = skillOf(4).items.map((each) => ({ ...each, texts: texts(Number(each.id.split('.')[1])) }))
  const flow = flowOf(skillOf(4, { items, languages: ['en', 'ta'] }))
  let state = reply(startConversation('ta', true, 'seed'), flow, 'yes')
  for (let count = 0; state.ending === null; count++) {
    assert.match(render(currentPrompts(state, flow).at(-1)!, state, flow, { name: 'Asha' }).text, /எது\?$/)
    state = answer(state, flow, count % 2 ? 'right' : 'wrong')
  }
  assert.ok(state.skills[0]!.length >= MIN_ITEMS)
})
