import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { Bank } from './bank.ts'
import { parseBank } from './format.ts'
import { type BankReport, inspectBank } from './report.ts'

let report: BankReport
before(async () => {
  report = await inspectBank()
})

test('the bank passes every check', (t) => {
  for (const { check, findings, rate } of report.checks)
    t.diagnostic(`${check}: ${findings} findings, ${(rate * 1000).toFixed(1)} in 1,000 wordings`)
  assert.deepEqual(
    report.findings.map(({ location, check, message }) => `${location}: ${check}: ${message}`),
    [],
  )
})

test('the bank has at least 240 skills with 8 items each, in English and Hindi', () => {
  assert.ok(report.totals['skills covered']! >= 240, `${report.totals['skills covered']} skills`)
  assert.ok(report.totals.items! >= 8 * report.totals['skills covered']!)
  assert.equal(report.totals['items with every language'], report.totals.items)
})

/** The most requested jobs and their skills. */
const REQUESTED_JOBS: Record<string, number[]> = {
  'delivery rider': [22001, 22019, 22020, 22055],
  'car driver': [9001, 9005, 9030],
  'truck driver': [9012, 9040],
  'security guard': [13001, 13002, 13010, 13038],
  cleaner: [12001, 12002, 12003],
  'house help': [12042, 12038],
  'call centre agent': [20001, 20022, 20023, 35078],
  'field seller': [21001, 21013, 21023],
  'shop assistant': [10001, 10023],
  cashier: [10008, 10009, 10011],
  'warehouse picker': [8019, 8022, 8030, 8052],
  'forklift driver': [8028],
  electrician: [2001, 2004, 2005],
  plumber: [3001, 3002, 3015],
  mason: [1001, 1016, 1042],
  carpenter: [28001, 28016],
  painter: [28031, 28032],
  welder: [4001, 4002, 4003],
  'machinist and fitter': [5001, 5019, 5053],
  'assembly worker': [29001, 29051],
  'air conditioning technician': [7001, 7003, 7004],
  'motor mechanic': [6001, 6012, 6026],
  cook: [11001, 11002, 11012],
  waiter: [11040],
  'sewing operator': [16001, 16002],
  hairdresser: [15001, 15002, 15003],
  'nursing assistant': [14001, 14013],
  'carer of children and older people': [27001, 27052, 27060],
  'office assistant': [23004, 23012, 23067, 35077],
  accountant: [33001, 33004, 33013],
  receptionist: [23051],
  'primary teacher': [40001, 40011, 40028],
  'graphic designer': [32001, 32002, 32036],
  'web developer': [30003, 30015, 30016, 30017],
  'phone repairer': [19024],
  pharmacist: [14067],
  'farm worker': [17015, 17022, 17044],
}

test('the most requested jobs have eight bank questions per skill in English and Hindi', async () => {
  const bank = await Bank.read()
  for (const [job, skills] of Object.entries(REQUESTED_JOBS)) {
    for (const skill of skills) {
      const translatedItems = bank.itemsOf(skill).filter(({ wordings }) => wordings.has('en') && wordings.has('hi'))
      assert.ok(translatedItems.length >= 8, `${job}: ${translatedItems.length} items for sk_${skill}`)
    }
  }
})

test('no guessing strategy is much better than random guessing, in any language or skill', () => {
  for (const { strategy, hitRates } of report.guesses) {
    for (const [language, rate] of Object.entries(hitRates))
      assert.ok(
        rate < 0.35,
        `${language}: guessing by "${strategy}" is correct ${(rate * 100).toFixed(1)} % of the time`,
      )
  }
  assert.ok(report.checks.some(({ check, findings }) => check === 'guessable' && findings === 0))
})

test('the documentation matches the bank (scripts/question-bank.ts --write updates it)', () => {
  const documentation = readFileSync(new URL('../../../docs/reference/question-bank.md', import.meta.url), 'utf8')
  const cells = (line: string) => line.split('|').map((cell) => cell.trim())
  const rowsByTotal = new Map(documentation.split('\n').map((line) => [cells(line)[1], cells(line)[2]]))
  for (const [name, count] of Object.entries(report.totals))
    assert.equal(rowsByTotal.get(name), count.toLocaleString('en-US'), name)
})

test('the bank has as many skills and items as the report, and every item has its own ID', async () => {
  const bank = await Bank.read()
  assert.equal(bank.skillNumbers.length, report.totals['skills covered'])
  const items = bank.skillNumbers.flatMap((skill) => bank.itemsOf(skill))
  assert.equal(items.length, report.totals.items)
  assert.equal(new Set(items.map(({ id }) => id)).size, items.length)
  assert.deepEqual(bank.itemsOf(999_999), [])
})

test('the position of the key in served items is uniform', () => {
  const { positions, chiSquare } = report.served
  assert.ok(chiSquare < 30.7, `positions ${positions.join(', ')}`)
})

test('an invalid line is reported with its number, and the rest is parsed', () => {
  const { skills, errors } = parseBank(
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
    errors.map(({ line }) => line),
    [2, 4, 13, 8],
  )
})
