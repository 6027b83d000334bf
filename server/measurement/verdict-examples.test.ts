import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { weighResponses } from './sequential-test.ts'

test('the examples in the documentation of verdicts are right', () => {
  const page = readFileSync(new URL('../../docs/reference/verdicts.md', import.meta.url), 'utf8')
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
