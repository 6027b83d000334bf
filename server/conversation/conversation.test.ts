import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LANGUAGES } from '../questions/questions.ts'
import { asking, begin, type State, step } from './conversation.ts'
import { type ConversationFlow, questionsOf } from './flow.ts'
import { render } from './render.ts'
import type { Input } from './reply-meaning.ts'
import { isQualified, partsDone, progressOf, verdictsOf } from './verdicts.ts'

const item = (key: 0 | 1 | 2 | 3) => ({
  item_id: `item-${key}`,
  key,
  text: {
    en: {
      stem: 'Which wire is earth?',
      options: ['Green', 'Red', 'Blue', 'Black'] as [string, string, string, string],
    },
  },
})

const flow: ConversationFlow = {
  methods: ['data_enrichment', 'skill_verification', 'interest_collection'],
  languages: ['en', 'hi'],
  company_name: 'Metro Ltd',
  title: 'Electrician',
  enrichment: [
    { key: 'licence', type: 'yes_no', text: { en: 'Do you hold a licence?' }, knockout: 'no', required: true },
    { key: 'start', type: 'voice', text: { en: 'When can you start?' }, required: false },
  ],
  skills: [
    { skill_id: 'sk_1', name: 'House wiring', items: [item(0), item(1), item(2)] },
    { skill_id: 'sk_2', name: 'Earthing', items: [item(3), item(3), item(3)] },
  ],
  interest: true,
}

function say(state: State, ...texts: string[]): State {
  return texts.reduce((at, text) => step(at, flow, { kind: 'reply', text }).state, state)
}

const fresh = () => begin('en', false)

test('the whole way, with answers as people write them', () => {
  const state = say(fresh(), 'haan ji', 'English', 'YES', 'next week', '1', 'b', '(C)', '4', 'black', 'D', 'yes please')
  assert.deepEqual(state.point, { at: 'ended' })
  assert.equal(state.ending, 'completed')
  assert.deepEqual(state.enrichment, ['yes', 'next week'])
  assert.equal(isQualified(state, flow), true)
  assert.deepEqual(
    verdictsOf(state, flow).map(({ verdict, correct, asked }) => [verdict, correct, asked]),
    [
      ['verified', 3, 3],
      ['verified', 3, 3],
    ],
  )
})

test('two of three right verify a skill, one of three does not', () => {
  const asked = say(fresh(), 'yes', '1', 'yes', 'now')
  const state = say(asked, '1', '2', '1', '4', '1', '1', 'yes')
  assert.deepEqual(
    verdictsOf(state, flow).map(({ verdict, correct }) => [verdict, correct]),
    [
      ['verified', 2],
      ['not_verified', 1],
    ],
  )
  assert.equal(isQualified(state, flow), false)
})

test('a knockout ends the questions kindly, whatever would have followed', () => {
  const state = say(fresh(), 'yes', '1')
  const { state: after, prompts, ending } = step(state, flow, { kind: 'reply', text: 'no' })
  assert.equal(ending, 'knocked_out')
  assert.deepEqual(
    prompts.map(({ say }) => say),
    ['thanks_knocked_out'],
  )
  assert.equal(isQualified(after, flow), false)
  assert.ok(verdictsOf(after, flow).every(({ verdict }) => verdict === 'not_asked'))
  assert.deepEqual(partsDone(after, flow), { consented: true, enrichment: true, skills: true, interest: true })
})

test('a refusal and a STOP end it, a STOP from anywhere and in any language', () => {
  assert.equal(say(fresh(), 'no').ending, 'refused')
  for (const text of ['STOP', 'बंद करो', 'unsubscribe']) {
    const { state, stop } = step(say(fresh(), 'yes', '1', 'yes'), flow, { kind: 'reply', text, step: 1 })
    assert.deepEqual([state.ending, stop], ['stopped', true])
  }
})

test('a reply to an earlier question, or the same reply twice, does nothing', () => {
  const state = say(fresh(), 'yes', '1', 'yes')
  for (const value of ['yes', 'no', '0']) {
    const again = step(state, flow, { kind: 'reply', step: state.step - 1, value })
    assert.equal(again.state, state)
    assert.deepEqual(again.prompts, [])
  }
})

test('what is not understood is asked again three times, then met with silence, and an answer still counts', () => {
  let state = say(fresh(), 'yes', '1')
  const said: string[][] = []
  for (let time = 0; time < 5; time++) {
    const outcome = step(state, flow, { kind: 'reply', text: 'perhaps, who knows what tomorrow brings' })
    said.push(outcome.prompts.map(({ say }) => say))
    state = outcome.state
  }
  assert.deepEqual(said, [...Array(3).fill(['not_understood', 'enrichment']), [], []])
  assert.deepEqual(say(state, 'yes').point, { at: 'enrichment', question: 1 })
})

test('a correction goes back to the question before, as far as the first one and never into the skills', () => {
  const second = say(fresh(), 'yes', '1', 'yes')
  const back = step(second, flow, { kind: 'back' }).state
  assert.deepEqual([back.point, back.enrichment], [{ at: 'enrichment', question: 0 }, []])
  assert.equal(back.step, second.step + 1)
  assert.deepEqual(step(back, flow, { kind: 'back' }).state.point, { at: 'enrichment', question: 0 })
  const skills = say(second, 'now')
  assert.deepEqual(step(skills, flow, { kind: 'back' }).state.point, { at: 'enrichment', question: 1 })
  const answered = say(skills, '1')
  assert.deepEqual(step(answered, flow, { kind: 'back' }).state, answered)
})

test('a change of language asks the same step again; before consent it also settles the question of language', () => {
  const state = say(fresh(), 'yes', '1')
  const { state: other, prompts } = step(state, flow, { kind: 'language', language: 'hi' })
  assert.deepEqual([other.language, other.step, other.point], ['hi', state.step, state.point])
  assert.equal(prompts.length, 1)
  const early = step(fresh(), flow, { kind: 'language', language: 'hi' }).state
  assert.deepEqual(say(early, 'हाँ').point, { at: 'enrichment', question: 0 })
  assert.equal(step(state, flow, { kind: 'language', language: 'ta' }).state.language, 'en')
})

test('an optional question can be skipped, a required one not', () => {
  const first = say(fresh(), 'yes', '1')
  assert.deepEqual(step(first, flow, { kind: 'reply', value: 'skip' }).state.point, first.point)
  assert.deepEqual(say(first, 'yes', 'skip').enrichment, ['yes', null])
})

test('every prompt has words in every language, and none of them tells what is right', () => {
  for (const language of LANGUAGES) {
    let state = begin(language, true)
    const seen: string[] = []
    while (state.ending === null) {
      for (const prompt of asking(state, flow))
        seen.push(JSON.stringify(render(prompt, language, flow, { name: 'Asha' })))
      const { point } = state
      const value = point.at === 'skills' ? '0' : 'yes'
      const reply: Input =
        point.at === 'enrichment' && point.question === 1 ? { kind: 'reply', text: 'x' } : { kind: 'reply', value }
      state = step(state, flow, reply).state
    }
    assert.ok(seen.length >= 10)
    for (const text of seen) assert.doesNotMatch(text, /"key"|undefined|\{\w+\}/)
  }
})

const anyFlow = fc
  .record({
    enrichment: fc.array(
      fc.record({
        type: fc.constantFrom('yes_no' as const, 'voice' as const),
        knockout: fc.constantFrom(undefined, 'yes' as const, 'no' as const),
        required: fc.boolean(),
      }),
      { maxLength: 4 },
    ),
    skills: fc.array(
      fc.array(fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const), { minLength: 1, maxLength: 3 }),
      { maxLength: 3 },
    ),
    methods: fc.subarray(flow.methods, { minLength: 1 }),
    languages: fc.subarray(['en', 'hi', 'ta'] as const, { minLength: 1 }),
  })
  .map(
    ({ enrichment, skills, methods, languages }): ConversationFlow => ({
      ...flow,
      methods,
      languages: [...languages],
      enrichment: enrichment.map(({ type, knockout, required }, index) => ({
        key: `q${index}`,
        type,
        required,
        text: { en: 'Well?' },
        ...(type === 'yes_no' && knockout ? { knockout } : {}),
      })),
      skills: skills.map((keys, index) => ({ skill_id: `sk_${index}`, name: 'Skill', items: keys.map(item) })),
      interest: methods.includes('interest_collection'),
    }),
  )

const anyInput: fc.Arbitrary<Input> = fc.oneof(
  fc.record({
    kind: fc.constant('reply' as const),
    value: fc.constantFrom('yes', 'no', '0', '1', '2', '3', 'en', 'hi', 'skip', 'back', 'repeat', 'rubbish'),
  }),
  fc.record({
    kind: fc.constant('reply' as const),
    text: fc.oneof(fc.string(), fc.constantFrom('yes', 'no', '1', '2', 'hi', 'skip')),
  }),
  fc.record({
    kind: fc.constant('reply' as const),
    step: fc.integer({ min: 1, max: 9 }),
    value: fc.constantFrom('yes', 'no', '1'),
  }),
  fc.record({ kind: fc.constant('language' as const), language: fc.constantFrom(...LANGUAGES) }),
  fc.constant({ kind: 'back' as const }),
  fc.constant({ kind: 'repeat' as const }),
)

test('whatever is replied, in whatever order', () => {
  fc.assert(
    fc.property(anyFlow, fc.array(anyInput, { maxLength: 40 }), (given, inputs) => {
      let state = begin(given.languages[0]!, false)
      for (const input of inputs) {
        const before = JSON.stringify(state)
        const outcome = step(state, given, input)
        assert.equal(JSON.stringify(state), before, 'the state that went in is never changed')
        assert.deepEqual(step(state, given, input), outcome, 'the same in gives the same out')
        const after = outcome.state
        assert.deepEqual(JSON.parse(JSON.stringify(after)), after, 'it survives being stored')
        assert.ok(after.step >= state.step)
        if (state.ending !== null)
          assert.deepEqual([after.ending, after.step, outcome.prompts], [state.ending, state.step, []])
        if (after.step > state.step) {
          const late = step(after, given, { kind: 'reply', step: state.step, value: 'yes' })
          assert.equal(late.state, after, 'an answer to the step before does nothing')
        }
        const { done, total } = progressOf(after, given)
        assert.ok(done >= 0 && done <= total)
        assert.ok(given.languages.includes(after.language))
        for (const prompt of outcome.prompts)
          assert.ok(render(prompt, after.language, given, { name: 'A' }).text.length > 0)
        const parts = partsDone(after, given)
        assert.ok(Number(parts.consented) >= Number(parts.enrichment))
        assert.ok(Number(parts.enrichment) >= Number(parts.skills) && Number(parts.skills) >= Number(parts.interest))
        state = after
      }
    }),
    { numRuns: 300 },
  )
})

test('whoever answers every question comes to the end in as many steps as there are questions', () => {
  fc.assert(
    fc.property(anyFlow, (given) => {
      let state = begin(given.languages[0]!, false)
      let replies = 0
      while (state.ending === null) {
        const { point } = state
        const knockout = point.at === 'enrichment' ? given.enrichment[point.question]!.knockout : undefined
        const voice = point.at === 'enrichment' && given.enrichment[point.question]!.type === 'voice'
        const value =
          point.at === 'language'
            ? given.languages[0]!
            : point.at === 'skills'
              ? '1'
              : knockout === 'yes'
                ? 'no'
                : 'yes'
        state = step(state, given, {
          kind: 'reply',
          step: state.step,
          ...(voice ? { text: 'some words' } : { value }),
        }).state
        replies++
      }
      assert.equal(state.ending, 'completed')
      assert.equal(replies, questionsOf(given).length + 1 + (given.languages.length > 1 ? 1 : 0))
    }),
    { numRuns: 200 },
  )
})
