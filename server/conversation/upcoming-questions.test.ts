import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Language } from '../platform/text/languages.ts'
import { advance as advanceReply, currentPrompts, startConversation as start } from './conversation.ts'
import { fromEarlierFlowSkill } from './earlier-format.ts'
import type { ConversationFlow } from './flow.ts'
import type { ConversationInput } from './reply-meaning.ts'
import type { ConversationState } from './state.ts'
import { canGoBack, upcomingPrompts } from './upcoming-questions.ts'

const advance = (state: ConversationState, flow: ConversationFlow, input: ConversationInput) =>
  advanceReply(state, flow, input, { now: 0, channel: 'page' })
const startConversation = (language: Language, languageKnown: boolean) => start(language, languageKnown, 'seed')

const item = {
  difficulty: 2 as const,
  item_id: 'item',
  key: 2 as const,
  text: { en: { stem: 'Which?', options: ['a', 'b', 'c', 'd'] as never } },
}

const anyFlowShape = fc.record({
  enrichment: fc.array(fc.constantFrom('voice', 'plain', 'knockout'), { maxLength: 5 }),
  skills: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 }),
  interest: fc.boolean(),
})

function flowOf({ enrichment, skills, interest }: { enrichment: string[]; skills: number[]; interest: boolean }) {
  return {
    methods: ['data_enrichment', 'skill_verification', 'interest_collection'],
    languages: ['en'],
    company_name: 'Metro Ltd',
    title: 'Electrician',
    enrichment: enrichment.map((kind, index) => ({
      key: `q${index}`,
      type: kind === 'voice' ? 'voice' : 'yes_no',
      text: { en: `Question ${index}?` },
      required: index % 2 === 0,
      ...(kind === 'knockout' ? { knockout: 'no' } : {}),
    })),
    skills: skills.map((items, index) =>
      fromEarlierFlowSkill({ skill_id: `sk_${index}`, name: 'Wiring', items: Array(items).fill(item) }, ['en']),
    ),
    interest,
  } as ConversationFlow
}

/** Gives a valid answer to the current question. The random number `chance` selects the answer. */
function giveAnswer(state: ConversationState, flow: ConversationFlow, chance: number): ConversationState {
  const { point } = state
  if (point.at === 'skills') return advance(state, flow, { kind: 'reply', value: String(chance % 4) }).state
  if (point.at === 'enrichment' && !flow.enrichment[point.question]!.required && chance % 3 === 0)
    return advance(state, flow, { kind: 'reply', value: 'skip' }).state
  if (point.at === 'enrichment' && flow.enrichment[point.question]!.type === 'voice')
    return advance(state, flow, { kind: 'reply', text: 'from Monday' }).state
  return advance(state, flow, { kind: 'reply', value: chance % 2 ? 'yes' : 'no' }).state
}

test('upcoming questions are later asked with the same step, regardless of the answers', () => {
  fc.assert(
    fc.property(anyFlowShape, fc.array(fc.nat(11), { minLength: 20, maxLength: 20 }), (shape, chances) => {
      const flow = flowOf(shape)
      assert.deepEqual(upcomingPrompts(startConversation('en', true), flow), [], 'no questions before consent')
      let state = giveAnswer(startConversation('en', true), flow, 1)
      let upcoming = upcomingPrompts(state, flow)
      for (const chance of chances) {
        if (state.ending) break
        const announcedPrompts = upcoming.filter(({ step }) => step > state.step)
        state = giveAnswer(state, flow, chance)
        if (announcedPrompts.length > 0)
          assert.deepEqual(
            announcedPrompts.filter(({ step }) => step === state.step),
            currentPrompts(state, flow),
          )
        upcoming = upcomingPrompts(state, flow)
        // Later lists repeat the remaining questions, possibly followed by more.
        const remainingPrompts = announcedPrompts.filter(({ step }) => step > state.step)
        assert.deepEqual(upcoming.slice(0, remainingPrompts.length), remainingPrompts)
      }
      if (state.ending) assert.deepEqual(upcoming, [])
    }),
  )
})

test('a skill question is not upcoming if the candidate has yet to choose its language', () => {
  const flow = flowOf({ enrichment: ['plain'], skills: [2], interest: false })
  const firstQuestion = (language: Language) => giveAnswer(startConversation(language, true), flow, 1)
  flow.skills[0]!.languages = ['en', 'hi']
  assert.equal(upcomingPrompts(firstQuestion('en'), flow).length, 3)
  assert.deepEqual(upcomingPrompts(firstQuestion('ta'), flow), [])
})

test('canGoBack is true if and only if going back leads to another question', () => {
  fc.assert(
    fc.property(
      anyFlowShape,
      fc.array(fc.constantFrom(1, 3, 7), { minLength: 20, maxLength: 20 }),
      (shape, chances) => {
        const flow = flowOf(shape)
        let state = startConversation('en', true)
        for (const chance of chances) {
          if (state.ending) break
          const stateAfterBack = advance(state, flow, { kind: 'back', step: state.step }).state
          assert.equal(canGoBack(state.point, state, flow), stateAfterBack.step !== state.step)
          state = giveAnswer(state, flow, chance)
        }
      },
    ),
  )
})
