import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LANGUAGES, type Language } from '../platform/text/languages.ts'
import { prompt } from '../questions/prompts.ts'
import { advance as advanceReply, currentPrompts, startConversation as start } from './conversation.ts'
import { fromEarlierFlowSkill } from './earlier-format.ts'
import type { ConversationFlow } from './flow.ts'
import { render } from './render.ts'
import type { ConversationInput } from './reply-meaning.ts'
import type { ConversationState } from './state.ts'
import { expectedQuestionCount, isQualified, partsDone, progressOf, verdictsOf } from './verdicts.ts'

const advance = (state: ConversationState, conversationFlow: ConversationFlow, input: ConversationInput) =>
  advanceReply(state, conversationFlow, input, { now: 0, channel: 'whatsapp' })
const startConversation = (language: Language, languageKnown: boolean) => start(language, languageKnown, 'seed')

/** A skill whose candidates are all asked the same items. */
const fixedSkill = (skill_id: string, name: string, ...items: ReturnType<typeof item>[]) =>
  fromEarlierFlowSkill({ skill_id, name, items }, [...LANGUAGES])

const item = (key: 0 | 1 | 2 | 3) => ({
  item_id: `item-${key}`,
  key,
  difficulty: 2 as const,
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
    fixedSkill('sk_1', 'House wiring', item(0), item(1), item(2)),
    fixedSkill('sk_2', 'Earthing', item(3), item(3), item(3)),
  ],
  interest: true,
}

function replyAll(state: ConversationState, ...texts: string[]): ConversationState {
  return texts.reduce((current, text) => advance(current, flow, { kind: 'reply', text }).state, state)
}

const initialState = () => startConversation('en', false)

test('a candidate completes the conversation with free-text answers', () => {
  const state = replyAll(
    initialState(),
    'haan ji',
    'English',
    'YES',
    'next week',
    '1',
    'b',
    '(C)',
    '4',
    'black',
    'D',
    'yes please',
  )
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

test('the first 2,000 characters of a spoken or typed answer are stored', () => {
  const atVoice = replyAll(initialState(), 'yes', 'English', 'yes')
  for (const length of [1999, 2000, 2001])
    assert.equal(replyAll(atVoice, '😀'.repeat(length)).enrichment[1], '😀'.repeat(Math.min(length, 2000)))
})

test('only the questions of the chosen methods are expected', () => {
  const totalOf = (changes: Partial<ConversationFlow>) => progressOf(initialState(), { ...flow, ...changes }).total
  assert.equal(totalOf({}), 11)
  assert.equal(totalOf({ methods: ['data_enrichment'] }), 2)
  assert.equal(totalOf({ methods: ['skill_verification'] }), 8)
  assert.equal(totalOf({ methods: ['interest_collection'] }), 1)
  assert.equal(totalOf({ methods: ['interest_collection'], interest: false }), 0)
  assert.equal(totalOf({ interest: false }), 10)
})

test('the first question about a skill names the skill, and the others do not', () => {
  const replies = ['yes', 'English', 'yes', 'next week', '1', '2', '3', '4', '4', '4']
  const texts = replies.map((_, index) => {
    const state = replyAll(initialState(), ...replies.slice(0, index))
    return currentPrompts(state, flow)
      .map((part) => render(part, state, flow, { name: 'Asha' }).text)
      .find((text) => text.includes('Which wire is earth?'))
  })
  assert.deepEqual(
    texts.filter((text) => text !== undefined).map((text) => text.split('\n')[0]),
    [
      'About House wiring:',
      'Which wire is earth?',
      'Which wire is earth?',
      'About Earthing:',
      'Which wire is earth?',
      'Which wire is earth?',
    ],
  )
})

test('two of three correct answers verify a skill, one of three does not', () => {
  const atSkills = replyAll(initialState(), 'yes', '1', 'yes', 'now')
  const state = replyAll(atSkills, '1', '2', '1', '4', '1', '1', 'yes')
  assert.deepEqual(
    verdictsOf(state, flow).map(({ verdict, correct }) => [verdict, correct]),
    [
      ['verified', 2],
      ['not_verified', 1],
    ],
  )
  assert.equal(isQualified(state, flow), false)
})

test('a knockout answer ends the conversation with a thank-you', () => {
  const state = replyAll(initialState(), 'yes', '1')
  const { state: endState, prompts, ending } = advance(state, flow, { kind: 'reply', text: 'no' })
  assert.equal(ending, 'knocked_out')
  assert.deepEqual(
    prompts.map(({ kind }) => kind),
    ['thanks_knocked_out'],
  )
  assert.equal(isQualified(endState, flow), false)
  assert.ok(verdictsOf(endState, flow).every(({ verdict }) => verdict === 'not_asked'))
  assert.deepEqual(partsDone(endState), { consented: true, enrichment: true, skills: true, interest: true })
})

test('refusing consent ends the conversation, and STOP ends it at any point and in any language', () => {
  assert.equal(replyAll(initialState(), 'no').ending, 'refused')
  for (const text of ['STOP', 'बंद करो', 'unsubscribe']) {
    const { state, stop } = advance(replyAll(initialState(), 'yes', '1', 'yes'), flow, { kind: 'reply', text, step: 1 })
    assert.deepEqual([state.ending, stop], ['stopped', true])
  }
})

test('a reply to an earlier question and a duplicate reply have no effect', () => {
  const state = replyAll(initialState(), 'yes', '1', 'yes')
  for (const value of ['yes', 'no', '0']) {
    const repeatedOutcome = advance(state, flow, { kind: 'reply', step: state.step - 1, value })
    assert.equal(repeatedOutcome.state, state)
    assert.deepEqual(repeatedOutcome.prompts, [])
  }
})

test('up to three unclear replies repeat the question, more are ignored, and a valid answer is still accepted', () => {
  let state = replyAll(initialState(), 'yes', '1')
  const kinds: string[][] = []
  for (let time = 0; time < 5; time++) {
    const outcome = advance(state, flow, { kind: 'reply', text: 'perhaps, who knows what tomorrow brings' })
    kinds.push(outcome.prompts.map(({ kind }) => kind))
    state = outcome.state
  }
  assert.deepEqual(kinds, [...Array(3).fill(['not_understood', 'enrichment']), [], []])
  assert.deepEqual(replyAll(state, 'yes').point, { at: 'enrichment', question: 1 })
})

test('going back returns to the previous question, up to the first one, and to the last answer about a skill only', () => {
  const atSecondQuestion = replyAll(initialState(), 'yes', '1', 'yes')
  const stateAfterBack = advance(atSecondQuestion, flow, { kind: 'back' }).state
  assert.deepEqual([stateAfterBack.point, stateAfterBack.enrichment], [{ at: 'enrichment', question: 0 }, []])
  assert.equal(stateAfterBack.step, atSecondQuestion.step + 1)
  assert.deepEqual(advance(stateAfterBack, flow, { kind: 'back' }).state.point, { at: 'enrichment', question: 0 })
  const atSkills = replyAll(atSecondQuestion, 'now')
  assert.deepEqual(advance(atSkills, flow, { kind: 'back' }).state.point, { at: 'enrichment', question: 1 })
  const afterTwoAnswers = replyAll(atSkills, '1', '1')
  const correcting = advance(afterTwoAnswers, flow, { kind: 'back' }).state
  assert.deepEqual(correcting.point, { at: 'skills', skill: 0, item: 1 })
  assert.deepEqual(advance(correcting, flow, { kind: 'back' }).state, correcting, 'earlier answers cannot be changed')
  const corrected = replyAll(correcting, 'b')
  assert.deepEqual(corrected.point, { at: 'skills', skill: 0, item: 2 })
  assert.deepEqual(
    corrected.skills[0]!.map(({ choice }) => choice),
    [0, 1, undefined],
  )
  assert.deepEqual(advance(corrected, flow, { kind: 'back' }).state, corrected, 'an answer can be changed once')
  for (const state of [correcting, corrected])
    assert.deepEqual(
      advance(state, flow, { kind: 'back' }).prompts.map(({ kind }) => kind),
      ['back_limit', 'skills'],
      'the candidate learns why the question is repeated',
    )
  const atSecondSkill = replyAll(corrected, '3')
  assert.deepEqual(advance(atSecondSkill, flow, { kind: 'back' }).state, atSecondSkill, 'one answer per skill')
  const correctingSecondSkill = replyAll(atSecondSkill, '1', 'back')
  assert.deepEqual(correctingSecondSkill.point, { at: 'skills', skill: 1, item: 0 })
})

test('BACK in words goes back, except in an answer of several words', () => {
  const atSecondQuestion = replyAll(initialState(), 'yes', '1', 'yes')
  for (const text of ['BACK', 'वापस', 'Change'])
    assert.deepEqual(replyAll(atSecondQuestion, text).point, { at: 'enrichment', question: 0 }, text)
  assert.deepEqual(replyAll(atSecondQuestion, 'change my answer').enrichment, ['yes', 'change my answer'])
  const atSkills = replyAll(atSecondQuestion, 'now')
  assert.deepEqual(replyAll(atSkills, 'change my answer').point, { at: 'enrichment', question: 1 })
  assert.deepEqual(replyAll(initialState(), 'back').point, { at: 'consent' })
})

test('an option of a skill question comes before a word for BACK or "not now"', () => {
  const sides = {
    ...item(0),
    text: { en: { stem: 'Which side?', options: ['Front', 'Back', 'Wait', 'Left'] as never } },
  }
  const sidesFlow: ConversationFlow = { ...flow, skills: [fixedSkill('sk_1', 'Wiring', sides, sides)] }
  const atSkills = ['yes', '1', 'yes', 'now'].reduce(
    (state, text) => advance(state, sidesFlow, { kind: 'reply', text }).state,
    initialState(),
  )
  for (const [text, choice] of [
    ['back', 1],
    ['wait', 2],
  ] as const)
    assert.equal(advance(atSkills, sidesFlow, { kind: 'reply', text }).state.skills[0]![0]!.choice, choice)
})

test('digits of Indian keyboards and keycap emoji are read as numbers; a reply with two options is not an answer', () => {
  const atSkills = replyAll(initialState(), '१', '২', '௧', 'now')
  assert.deepEqual([atSkills.language, atSkills.enrichment], ['hi', ['yes', 'now']])
  for (const text of ['2', '२', '౨', '൨', '2️⃣', '２', '(b)'])
    assert.equal(replyAll(atSkills, text).skills[0]![0]!.choice, 1, text)
  for (const text of ['B or C', 'BC', '1,2', '0', '5', '🅱️', '👍', 'В', '2 3']) {
    const state = replyAll(atSkills, text)
    assert.deepEqual([state.skills[0]![0]!.choice, state.misses], [undefined, 1], text)
  }
})

for (const language of LANGUAGES) {
  test(`${language}: "not now" asks when to contact the candidate again, and never ends as refused`, () => {
    const atConsent = startConversation(language, true)
    for (const text of [prompt('not_now', language), 'not now']) {
      const postponed = advance(atConsent, flow, { kind: 'reply', text })
      assert.deepEqual(postponed.state.point, { at: 'later', back: { at: 'consent' } })
      assert.equal(postponed.ending, undefined)
      const question = render(postponed.prompts[0]!, postponed.state, flow, { name: 'Asha' })
      assert.deepEqual(
        question.choices.map(({ value }) => value),
        ['today', 'tomorrow', 'never'],
      )
      for (const [index, { value, label }] of question.choices.entries())
        for (const reply of [label, String(index + 1)]) {
          const outcome = advance(postponed.state, flow, { kind: 'reply', text: reply })
          if (value === 'never') {
            assert.deepEqual([outcome.ending, outcome.stop], ['refused', false], reply)
            assert.equal(partsDone(outcome.state).consented, false)
          } else {
            assert.equal(outcome.contactAgain, value, reply)
            assert.deepEqual(outcome.state.point, { at: 'consent' })
            assert.deepEqual(
              outcome.prompts.map(({ kind }) => kind),
              [`contact_${value}`],
            )
            assert.equal(partsDone(outcome.state).consented, false)
          }
        }
    }
  })
}

test('a question can be postponed at any point; the conversation continues with the same question', () => {
  const states = [
    replyAll(initialState(), 'yes'),
    replyAll(initialState(), 'yes', '1'),
    replyAll(initialState(), 'yes', '1', 'yes', 'now', '1'),
    replyAll(initialState(), 'yes', '1', 'yes', 'now', '1', '2', '3', '4', '4', '4'),
  ]
  for (const state of states) {
    const postponed = replyAll(state, 'not now')
    assert.deepEqual(postponed.point, { at: 'later', back: state.point })
    assert.deepEqual(progressOf(postponed, flow), progressOf(state, flow))
    assert.deepEqual(partsDone(postponed), partsDone(state))
    for (const text of ['tomorrow', 'back']) {
      const resumed = replyAll(postponed, text)
      assert.deepEqual(
        [resumed.point, resumed.enrichment, resumed.skills],
        [state.point, state.enrichment, state.skills],
      )
    }
    assert.equal(replyAll(postponed, 'never').ending, 'refused')
    assert.equal(replyAll(postponed, 'STOP').ending, 'stopped')
  }
})

test('"not now" is asked about at most three times, and is an answer where several words are expected', () => {
  let state = replyAll(initialState(), 'not now')
  const sentCounts = Array.from({ length: 5 }, () => {
    const outcome = advance(state, flow, { kind: 'reply', text: 'not now' })
    state = outcome.state
    return outcome.prompts.length
  })
  assert.deepEqual(sentCounts, [2, 2, 2, 0, 0])
  const atVoiceQuestion = replyAll(initialState(), 'yes', '1', 'yes')
  assert.deepEqual(replyAll(atVoiceQuestion, 'not now').enrichment, ['yes', 'not now'])
  assert.equal(replyAll(atVoiceQuestion, 'wait').point.at, 'later')
})

test('"ok" after a contact was agreed is no answer; yes is', () => {
  const agreed = { ...replyAll(initialState(), 'not now', 'tomorrow'), contactAt: '2026-03-12T06:30:00.000Z' }
  for (const text of ['ok', 'Ok sir', 'thanks', 'ठीक है', '👍']) {
    const outcome = advance(agreed, flow, { kind: 'reply', text })
    assert.deepEqual([outcome.state, outcome.prompts], [agreed, []], text)
  }
  const unclear = advance(agreed, flow, { kind: 'reply', text: 'what?' })
  assert.equal(unclear.state.contactAt, agreed.contactAt)
  const accepted = advance(agreed, flow, { kind: 'reply', text: 'yes' }).state
  assert.deepEqual([accepted.point, accepted.contactAt], [{ at: 'language' }, undefined])
  assert.equal(partsDone(accepted).consented, true)
})

test('consent is known in conversations that were started by earlier versions', () => {
  const { consented: _, ...atConsent } = initialState()
  assert.equal(partsDone(atConsent).consented, false)
  assert.equal(partsDone(replyAll(atConsent, 'no')).consented, false)
  assert.equal(partsDone(replyAll(atConsent, 'not now', 'never')).consented, false)
  const { consented: __, ...atQuestion } = replyAll(initialState(), 'yes', '1')
  assert.equal(partsDone(atQuestion).consented, true)
  assert.equal(partsDone(replyAll(atQuestion, 'not now', 'never')).consented, true)
})

test('changing the language repeats the current question; before consent it also skips the language question', () => {
  const state = replyAll(initialState(), 'yes', '1')
  const { state: stateInHindi, prompts } = advance(state, flow, { kind: 'language', language: 'hi' })
  assert.deepEqual([stateInHindi.language, stateInHindi.step, stateInHindi.point], ['hi', state.step, state.point])
  assert.equal(prompts.length, 1)
  const stateBeforeConsent = advance(initialState(), flow, { kind: 'language', language: 'hi' }).state
  assert.deepEqual(replyAll(stateBeforeConsent, 'हाँ').point, { at: 'enrichment', question: 0 })
  assert.equal(advance(state, flow, { kind: 'language', language: 'ta' }).state.language, 'en')
})

test('optional questions can be skipped, required questions cannot', () => {
  const atFirstQuestion = replyAll(initialState(), 'yes', '1')
  assert.deepEqual(advance(atFirstQuestion, flow, { kind: 'reply', value: 'skip' }).state.point, atFirstQuestion.point)
  assert.deepEqual(replyAll(atFirstQuestion, 'yes', 'skip').enrichment, ['yes', null])
})

test('every prompt has a text in every language, and none reveals the correct answer', () => {
  for (const language of LANGUAGES) {
    let state = startConversation(language, true)
    const renderedTexts: string[] = []
    while (state.ending === null) {
      for (const each of currentPrompts(state, flow))
        renderedTexts.push(JSON.stringify(render(each, state, flow, { name: 'Asha' })))
      const { point } = state
      const value = point.at === 'skills' ? '0' : 'yes'
      const reply: ConversationInput =
        point.at === 'enrichment' && point.question === 1 ? { kind: 'reply', text: 'x' } : { kind: 'reply', value }
      state = advance(state, flow, reply).state
    }
    assert.ok(renderedTexts.length >= 10)
    for (const text of renderedTexts) assert.doesNotMatch(text, /"key"|undefined|\{\w+\}/)
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
      skills: skills.map((keys, index) => fixedSkill(`sk_${index}`, 'Skill', ...keys.map(item))),
      interest: methods.includes('interest_collection'),
    }),
  )

const anyInput: fc.Arbitrary<ConversationInput> = fc.oneof(
  fc.record({
    kind: fc.constant('reply' as const),
    value: fc.constantFrom(
      'yes',
      'no',
      '0',
      '1',
      '2',
      '3',
      'en',
      'hi',
      'skip',
      'back',
      'repeat',
      'later',
      'today',
      'never',
      'rubbish',
    ),
  }),
  fc.record({
    kind: fc.constant('reply' as const),
    text: fc.oneof(
      fc.string(),
      fc.constantFrom('yes', 'no', '1', '2', 'hi', 'skip', 'not now', 'tomorrow', 'back', 'ok'),
    ),
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

test('invariants hold for any replies in any order', () => {
  fc.assert(
    fc.property(anyFlow, fc.array(anyInput, { maxLength: 40 }), (testedFlow, inputs) => {
      let state = startConversation(testedFlow.languages[0]!, false)
      for (const input of inputs) {
        const jsonBefore = JSON.stringify(state)
        const outcome = advance(state, testedFlow, input)
        assert.equal(JSON.stringify(state), jsonBefore, 'the input state is not mutated')
        assert.deepEqual(advance(state, testedFlow, input), outcome, 'the same input returns the same outcome')
        const stateAfter = outcome.state
        assert.deepEqual(JSON.parse(JSON.stringify(stateAfter)), stateAfter, 'the state survives a JSON round trip')
        assert.ok(stateAfter.step >= state.step)
        if (state.ending !== null)
          assert.deepEqual([stateAfter.ending, stateAfter.step, outcome.prompts], [state.ending, state.step, []])
        if (stateAfter.step > state.step) {
          const lateOutcome = advance(stateAfter, testedFlow, { kind: 'reply', step: state.step, value: 'yes' })
          assert.equal(lateOutcome.state, stateAfter, 'a reply to the previous step has no effect')
        }
        const { done, total } = progressOf(stateAfter, testedFlow)
        assert.ok(done >= 0 && done <= total)
        assert.ok(testedFlow.languages.includes(stateAfter.language))
        for (const each of outcome.prompts)
          assert.ok(render(each, stateAfter, testedFlow, { name: 'A' }).text.length > 0)
        const finishedParts = partsDone(stateAfter)
        assert.ok(Number(finishedParts.consented) >= Number(finishedParts.enrichment))
        assert.ok(
          Number(finishedParts.enrichment) >= Number(finishedParts.skills) &&
            Number(finishedParts.skills) >= Number(finishedParts.interest),
        )
        state = stateAfter
      }
    }),
    { numRuns: 300 },
  )
})

test('the conversation is completed after one reply to each question', () => {
  fc.assert(
    fc.property(anyFlow, (testedFlow) => {
      let state = startConversation(testedFlow.languages[0]!, false)
      let replies = 0
      while (state.ending === null) {
        const { point } = state
        const knockout = point.at === 'enrichment' ? testedFlow.enrichment[point.question]!.knockout : undefined
        const isVoice = point.at === 'enrichment' && testedFlow.enrichment[point.question]!.type === 'voice'
        const value =
          point.at === 'language'
            ? testedFlow.languages[0]!
            : point.at === 'skills'
              ? '1'
              : knockout === 'yes'
                ? 'no'
                : 'yes'
        state = advance(state, testedFlow, {
          kind: 'reply',
          step: state.step,
          ...(isVoice ? { text: 'some words' } : { value }),
        }).state
        replies++
      }
      assert.equal(state.ending, 'completed')
      assert.equal(replies, expectedQuestionCount(testedFlow) + 1 + (testedFlow.languages.length > 1 ? 1 : 0))
    }),
    { numRuns: 200 },
  )
})
