import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { advance, startConversation } from '../../conversation/conversation.ts'
import type { ConversationFlow } from '../../conversation/flow.ts'
import { isQualified, verdictsOf } from '../../conversation/verdicts.ts'
import { MAX_ITEMS } from '../../measurement/sequential-test.ts'
import type { SkillItem } from '../../questions/skill-items.ts'
import { simulatedReply } from './simulated-reply.ts'
import { personaBehaviours } from './test-script.ts'

function itemOf(difficulty: number, index: number): SkillItem {
  return {
    id: String(index),
    pool: String(index % 3),
    kind: 'tool',
    difficulty,
    texts: { en: { stem: `Question ${index}?`, options: ['a', 'b', 'c', 'd'] } },
    ...(index % 7 === 6 ? { isPilot: true } : {}),
  }
}

function flowOf(...difficulties: number[][]): ConversationFlow {
  return {
    methods: ['skill_verification'],
    languages: ['en'],
    company_name: 'Metro Ltd',
    title: 'Electrician',
    enrichment: [],
    skills: difficulties.map((each, index) => ({
      skill_id: `sk_${index}`,
      name: 'House wiring',
      source: 'bank',
      languages: ['en'],
      items: each.map(itemOf),
    })),
    interest: false,
  }
}

test('every skill of the inconclusive test number is inconclusive after all items, whatever items are drawn', () => {
  const difficulties = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 12, maxLength: 24 })
  fc.assert(
    fc.property(fc.string(), difficulties, difficulties, (seed, ...skills) => {
      const flow = flowOf(...skills)
      let state = startConversation('en', true, seed)
      while (state.ending === null) {
        const input = simulatedReply(personaBehaviours.inconclusive_skills, state, flow, 0)!
        state = advance(state, flow, input, { now: 0, channel: 'whatsapp' }).state
      }
      for (const { verdict, asked } of verdictsOf(state, flow))
        assert.deepEqual([verdict, asked], ['inconclusive', MAX_ITEMS])
      assert.equal(isQualified(state, flow), null)
    }),
    { numRuns: 300 },
  )
})
