import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VerifiedSkill } from './types.ts'
import {
  describeEvidence,
  describeQualified,
  describeQuestions,
  describeReasons,
  describeVerifiedSkills,
} from './verdict-texts.ts'

type UndescribedSkill = Omit<VerifiedSkill, 'summary'>

function aSkill(overrides: Partial<UndescribedSkill> = {}): UndescribedSkill {
  const source = { item_source: 'bank' as const, language: 'hi' as const }
  const evidence = { ...source, items: 7, unpiloted_items: 0, median_seconds: 14 }
  const counts = { correct: 6, asked: 7, confidence: 0.97 }
  return { skill_id: 'sk_1', name: 'Arc welding', verdict: 'verified', ...counts, evidence, ...overrides }
}

test('the evidence for a verdict is described with the count of correct answers and the certainty', () => {
  assert.equal(describeEvidence(aSkill()), '6 of 7 correct, 97 % certain')
  assert.equal(
    describeEvidence(aSkill({ verdict: 'not_verified', correct: 1, asked: 4, confidence: 0.999 })),
    '1 of 4 correct, 99 % certain',
  )
  assert.equal(
    describeEvidence(aSkill({ verdict: 'inconclusive', correct: 5, asked: 8, confidence: 0.8 })),
    'not enough evidence (5 of 8 correct)',
  )
  assert.equal(
    describeEvidence(aSkill({ verdict: 'not_asked', correct: 1, asked: 2, confidence: null })),
    '1 of 2 correct so far',
  )
  assert.equal(describeEvidence(aSkill({ verdict: 'not_asked', correct: 0, asked: 0, confidence: null })), 'not asked')
  assert.equal(describeEvidence(aSkill({ correct: 2, asked: 3, confidence: null })), '2 of 3 correct')
})

test('a certainty is rounded down', () => {
  const percentOf = (confidence: number) => /[\d.]+ % certain/.exec(describeEvidence(aSkill({ confidence })))![0]
  assert.deepEqual(
    [0.95, 0.9579, 0.966, 0.99, 0.999].map(percentOf),
    [95, 95, 96, 99, 99].map((percent) => `${percent} % certain`),
  )
})

test('the questions are described with their source, their language and the median time', () => {
  const { evidence } = aSkill()
  assert.equal(describeQuestions(evidence!), 'public questions, asked in Hindi, median time 14 s')
  assert.equal(
    describeQuestions({ ...evidence!, item_source: 'private', language: 'en', median_seconds: null }),
    'your own questions, asked in English',
  )
  assert.match(describeQuestions({ ...evidence!, item_source: 'ai' }), /^AI questions,/)
})

test('questions that are still being tried out are named', () => {
  const { evidence } = aSkill()
  const textWith = (unpiloted_items: number) => describeQuestions({ ...evidence!, item_source: 'ai', unpiloted_items })
  assert.equal(textWith(7), 'AI questions, still being tried out, asked in Hindi, median time 14 s')
  assert.equal(textWith(3), 'AI questions, 3 of 7 still being tried out, asked in Hindi, median time 14 s')
})

test('reasons name the skill or the knockout answer', () => {
  const skills = [
    aSkill({ verdict: 'not_verified', correct: 1, asked: 5, confidence: 0.98 }),
    aSkill({ skill_id: 'sk_2', name: 'Gas cutting', verdict: 'inconclusive', correct: 5, asked: 8, confidence: 0.7 }),
  ]
  const output = {
    qualified: false,
    reasons: [
      { kind: 'knockout' as const, key: 'licence' },
      { kind: 'skill_not_verified' as const, skill_id: 'sk_1' },
      { kind: 'skill_inconclusive' as const, skill_id: 'sk_2' },
    ],
    enrichment: { licence: { answer: 'no' } },
    skills,
  }
  assert.deepEqual(describeReasons(output), [
    'answered no to licence',
    'Arc welding not verified',
    'Gas cutting inconclusive',
  ])
  assert.deepEqual(describeReasons(output, { questionText: () => 'Do you have a licence?', withEvidence: true }), [
    'answered no to “Do you have a licence?”',
    'Arc welding not verified (1 of 5 correct, 98 % certain)',
    'Gas cutting inconclusive (5 of 8 correct)',
  ])
  const skipped = { qualified: null, reasons: [{ kind: 'knockout_skipped' as const, key: 'licence' }] }
  assert.deepEqual(describeReasons(skipped), ['skipped licence'])
  assert.deepEqual(describeReasons(skipped, { questionText: () => 'Do you have a licence?' }), [
    'skipped “Do you have a licence?”',
  ])
  assert.deepEqual(describeReasons({ qualified: null, reasons: [] }), ['no skill was checked'])
  assert.deepEqual(describeReasons({ qualified: true, reasons: [] }), [])
})

test('a candidate is qualified, not qualified or undecided', () => {
  assert.deepEqual([true, false, null].map(describeQualified), ['qualified', 'not qualified', 'undecided'])
  const skills = [aSkill({ confidence: 0.99 }), aSkill({ skill_id: 'sk_2', confidence: 0.961 })]
  assert.equal(describeVerifiedSkills(skills), '2 of 2 skills verified, at least 96 % certain')
  assert.equal(describeVerifiedSkills([aSkill()]), '1 of 1 skill verified, 97 % certain')
  assert.equal(
    describeVerifiedSkills([aSkill(), aSkill({ verdict: 'not_verified' })]),
    '1 of 2 skills verified, 97 % certain',
  )
  assert.equal(describeVerifiedSkills([aSkill({ confidence: null })]), '1 of 1 skill verified')
})
