import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { PRIOR_DIFFICULTIES } from './model.ts'
import { weighResponses } from './sequential-test.ts'

const page = readFileSync(new URL('../../docs/reference/verdicts.md', import.meta.url), 'utf8')

test('the examples in the documentation of verdicts are right', () => {
  const examples = [...page.matchAll(/^\| (\d) of (\d) +\| `(\w+)` +\| ([\d.]+) % +\|$/gm)]
  assert.equal(examples.length, 7)
  for (const [, correct, asked, expectedVerdict, expectedPercent] of examples) {
    const responses = Array.from({ length: Number(asked) }, (_, index) => ({
      difficulty: 0,
      isCorrect: index < Number(correct),
    }))
    const { verdict, confidence } = weighResponses(responses)
    assert.deepEqual(
      [verdict, (confidence * 100).toFixed(1)],
      [expectedVerdict, expectedPercent],
      `${correct} of ${asked}`,
    )
  }
})

test('the weights of answers to unpiloted items in the documentation of verdicts are right', () => {
  const rows = [...page.matchAll(/^\| ([123]) +\| \+([\d.]+) +\| −([\d.]+) +\|$/gm)]
  assert.equal(rows.length, 3)
  for (const [, level, rightWeight, wrongWeight] of rows) {
    const difficulty = PRIOR_DIFFICULTIES[Number(level) as 1 | 2 | 3]
    const weightOf = (isCorrect: boolean) => {
      const { confidence } = weighResponses([{ difficulty, isCorrect, isUnpiloted: true }])
      return Math.log(confidence / (1 - confidence)).toFixed(2)
    }
    assert.deepEqual([weightOf(true), weightOf(false)], [rightWeight, wrongWeight], `difficulty ${level}`)
  }
})

test('the weights of answers in the documentation of verdicts are right', () => {
  const rows = [...page.matchAll(/^\| ([123]) \(\w+\) +\| [−\d.]+ +\| \+([\d.]+) +\| −([\d.]+) +\|$/gm)]
  assert.equal(rows.length, 3)
  for (const [, level, rightWeight, wrongWeight] of rows) {
    const difficulty = PRIOR_DIFFICULTIES[Number(level) as 1 | 2 | 3]
    const weightOf = (isCorrect: boolean) => {
      const { confidence } = weighResponses([{ difficulty, isCorrect }])
      return Math.log(confidence / (1 - confidence)).toFixed(2)
    }
    assert.deepEqual([weightOf(true), weightOf(false)], [rightWeight, wrongWeight], `difficulty ${level}`)
  }
})

test('the shares of wrong verdicts in the documentation of verdicts follow from its table', () => {
  const verifiedShare = (band: string) => Number(new RegExp(`^\\| ${band} +\\| ([\\d.]+) %`, 'm').exec(page)?.[1]) / 100
  const [rightRate, wrongRate] = [verifiedShare('2 to 3'), verifiedShare('−3 to −2')]
  const [, half, tenth, twentieth] =
    /about (\d+) of 100 verdicts `verified` is wrong.*?about (\d+) of 100, and if one in\s+twenty, (\d+) of 100/s.exec(
      page,
    )!
  for (const [skilled, documented] of [
    [1 / 2, half],
    [1 / 10, tenth],
    [1 / 20, twentieth],
  ] as const) {
    const wrong = (1 - skilled) * wrongRate
    assert.equal(Math.round((100 * wrong) / (wrong + skilled * rightRate)), Number(documented))
  }
})
