import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { Bank } from './bank.ts'
import { parseBank } from './bank-format.ts'
import { type BankReport, inspectBank } from './bank-report.ts'

let report: BankReport
before(async () => {
  report = await inspectBank()
})

test('the bank passes every check', (t) => {
  for (const { check, findings, rate } of report.checks)
    t.diagnostic(`${check}: ${findings} findings, ${(rate * 1000).toFixed(1)} in 1,000 wordings`)
  assert.deepEqual(
    report.findings.map(({ at, check, message }) => `${at}: ${check}: ${message}`),
    [],
  )
})

test('the bank has at least 150 skills with 8 items each, in English and Hindi', () => {
  assert.ok(report.totals['skills covered']! >= 150, `${report.totals['skills covered']} skills`)
  assert.ok(report.totals.items! >= 8 * report.totals['skills covered']!)
  assert.equal(report.totals['items with every language'], report.totals.items)
})

test('the page shows what the bank holds: scripts/question-bank.ts --write renews it', () => {
  const page = readFileSync(new URL('../../docs/reference/question-bank.md', import.meta.url), 'utf8')
  const cells = (line: string) => line.split('|').map((cell) => cell.trim())
  const rows = new Map(page.split('\n').map((line) => [cells(line)[1], cells(line)[2]]))
  for (const [what, count] of Object.entries(report.totals))
    assert.equal(rows.get(what), count.toLocaleString('en-US'), what)
})

test('what the writer reads is what was inspected', async () => {
  const bank = await Bank.read()
  assert.equal(bank.skills.length, report.totals['skills covered'])
  const items = bank.skills.flatMap((skill) => bank.itemsOf(skill))
  assert.equal(items.length, report.totals.items)
  assert.equal(new Set(items.map(({ id }) => id)).size, items.length)
  assert.deepEqual(bank.itemsOf(999_999), [])
})

test('the place of the key in what is served is uniform', () => {
  const { places, spread } = report.served
  assert.ok(spread < 30.7, `places ${places.join(', ')}`)
})

test('a broken file is told by line, and the rest is read', () => {
  const { skills, faults } = parseBank(
    [
      '= sk_1 Skill',
      '? safety 4',
      '? safety 2',
      'en What?',
      '+ a',
      '- b',
      '- c',
      'hi क्या?',
      '+ a',
      '- b',
      '- c',
      '- d',
      'nonsense',
      '- stray',
    ].join('\n'),
  )
  assert.deepEqual([...skills[0]!.items[0]!.wordings.keys()], [])
  assert.deepEqual(
    faults.map(({ line }) => line),
    [2, 4, 13, 8],
  )
})
