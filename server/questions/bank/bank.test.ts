import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { SeededRandom } from '../../measurement/seeded-random.ts'
import type { StoredCalculation } from '../skill-items.ts'
import { Bank } from './bank.ts'
import { checkCalculation } from './calculation-checks.ts'
import { parseBank } from './format.ts'
import { GUESSING_STRATEGIES, measureGuessing } from './guessing.ts'
import { scoreByOtherTrades } from './options-only-model.ts'
import { type BankReport, inspectBank, MAX_GUESS_RATE, MAX_GUESS_RATE_PER_TRADE } from './report.ts'
import type { ServedItem } from './served-items.ts'

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

test('the bank has at least 400 skills with 12 items each, 100 of them with 24, in English and Hindi', () => {
  assert.ok(report.totals['skills covered']! >= 400, `${report.totals['skills covered']} skills`)
  assert.ok(report.totals['skills with 24 items or more']! >= 100)
  for (const language of ['en', 'hi']) {
    const { skills, items } = report.languages.find((counts) => counts.language === language)!
    assert.equal(skills, report.totals['skills covered'], language)
    assert.equal(items, report.totals.items, language)
  }
})

test('at least 40 skills can be asked in Tamil, Telugu, Bengali and Marathi', () => {
  for (const language of ['ta', 'te', 'bn', 'mr']) {
    const skills = report.languages.find((counts) => counts.language === language)?.skills ?? 0
    assert.ok(skills >= 40, `${language}: ${skills} skills`)
  }
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

test('the most requested jobs have at least 12 questions per skill in English and Hindi', async () => {
  const bank = await Bank.read()
  for (const [job, skills] of Object.entries(REQUESTED_JOBS)) {
    for (const skill of skills) {
      const translatedItems = bank.itemsOf(skill).filter(({ texts }) => texts.en && texts.hi)
      assert.ok(translatedItems.length >= 12, `${job}: ${translatedItems.length} items for sk_${skill}`)
    }
  }
})

test('no guessing strategy is much better than random guessing, in any language or trade', (t) => {
  for (const { strategy, language, overall, worstTrade } of report.guesses) {
    const label = `${language}: guessing by "${strategy}"`
    t.diagnostic(
      `${label}: ${overall.toFixed(3)}${worstTrade ? `, in ${worstTrade.name} ${worstTrade.rate.toFixed(3)}` : ''}`,
    )
    assert.ok(overall < MAX_GUESS_RATE, `${label} is correct in ${overall} of the bank`)
    if (language !== 'en' && language !== 'hi') continue
    assert.ok(worstTrade && worstTrade.rate < MAX_GUESS_RATE_PER_TRADE, `${label} in ${worstTrade?.name}`)
  }
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

/** Returns the first number in an option, such as 2.5 in "2.5 mm". */
function numberIn(option: string): number {
  return Number(/-?\d[\d,]*(\.\d+)?/.exec(option)?.[0].replaceAll(',', ''))
}

test('the order of the options in the files does not reveal the key', async () => {
  const bank = await Bank.read()
  const items = bank.skillNumbers
    .flatMap((skill) => bank.itemsOf(skill))
    .filter(({ calculation }) => !calculation)
    .map(({ texts }): ServedItem => {
      const { stem, options } = texts.en!
      return { trade: 'all', language: 'en', stem, options: options.slice(0, 4), key: 0 }
    })
    .filter(({ options }) => options.every((option) => Number.isFinite(numberIn(option))))
  assert.ok(items.length > 2000)
  for (const sign of [1, -1]) {
    const rate = measureGuessing(items, (rows) =>
      rows.map(({ options }) => options.map((option) => sign * numberIn(option))),
    ).overall
    assert.ok(rate < MAX_GUESS_RATE, `the ${sign > 0 ? 'greatest' : 'smallest'} number is the key in ${rate}`)
  }
})

test('the position of the key in served items is uniform', () => {
  const { positions, chiSquare, items } = report.served
  assert.equal(
    positions.reduce((sum, count) => sum + count, 0),
    items,
  )
  // Three degrees of freedom: chance exceeds this once in a thousand banks.
  assert.ok(chiSquare < 16.3, `positions ${positions.join(', ')}`)
})

test('invalid lines are reported with their numbers, and the rest is parsed', () => {
  const pool = (number: number) => [
    `@ ${number} tool`,
    'en | a | b | c | d | e | f',
    ...[1, 2, 3, 4, 5, 6].map((stem) => `${stem} 2 | What is ${stem}?`),
  ]
  const { skills, errors } = parseBank(
    [
      '@ 1 tool',
      '= sk_1 Skill',
      ...pool(1),
      '@ 2 unknown-kind',
      ...pool(3).slice(0, -1),
      ...pool(4).with(1, 'en | a | b | c'),
      '% 5 2',
      'v n=1..4',
      'en How much is {n} and {n}?',
      '= n+',
      '< n ; n-1 ; n-2',
      '> n*3 ; n*4 ; n*5',
      'nonsense',
    ].join('\n'),
  )
  assert.deepEqual(
    skills.map(({ number, pools, calculations }) => [number, pools.map((part) => part.number), calculations.length]),
    [[1, [1], 0]],
  )
  assert.deepEqual(
    [...new Set(errors.map(({ line }) => line))].sort((first, second) => first - second),
    [1, 11, 12, 19, 20, 21, 22, 23, 24, 25, 26, 27, 33],
  )
})

/** Returns served items of ten trades in which a share of the keys contains a word that distractors do not contain. */
function itemsWithClue(share: number): ServedItem[] {
  const random = new SeededRandom(`clue ${share}`)
  return Array.from({ length: 2000 }, (_, index) => {
    const options = Array.from({ length: 4 }, () => `part ${random.below(500)}`)
    const key = random.below(4)
    if (random.below(100) < share * 100) options[key] = 'report it'
    return { trade: `trade ${index % 10}`, language: 'en', stem: 'What do you do?', options, key }
  })
}

test('the model that sees only the options finds a clue that is common to the trades, and nothing without one', () => {
  const rateOf = (share: number) => measureGuessing(itemsWithClue(share), (items) => scoreByOtherTrades(items)).overall
  const [withoutClue, withClue] = [rateOf(0), rateOf(0.5)]
  assert.ok(Math.abs(withoutClue - 0.25) < 0.04, `${withoutClue} without a clue`)
  // The key has the word in half of the items; one in four of the others is guessed.
  assert.ok(Math.abs(withClue - 0.625) < 0.04, `${withClue} with a clue in half of the keys`)
})

test('an option that repeats words of the stem is found by wording', () => {
  const items: ServedItem[] = ['clamp', 'wrench', 'gauge', 'hammer', 'chisel'].map((tool, index) => ({
    trade: 'trade',
    language: 'en',
    stem: `Which tool is a small ${tool}?`,
    options: ['a file', `one ${tool}`, 'a level', 'a rope'],
    key: index < 3 ? 1 : 2,
  }))
  for (const strategy of ['option nearest to the stem in words', 'option nearest to the stem in letters'])
    assert.equal(measureGuessing(items, GUESSING_STRATEGIES[strategy]!).overall, 0.6)
})

const calculation: StoredCalculation = {
  values: { l: [2, 3, 4], h: [3, 5] },
  key: 'l*h',
  lower: ['l*h-1', 'l*h/2', 'l*h/3'],
  higher: ['l*h*2', 'l*h+1', 'l*h*3'],
}
const stems = new Map([['en', 'A wall is {l} m long and {h} m high. What is its area?']])

test('a valid calculation passes its checks', () => {
  assert.deepEqual(checkCalculation(calculation, stems), [])
})

for (const [name, changes, pattern] of [
  ['a key with three decimals', { key: 'l*h/8' }, /more than 2 decimals/],
  ['a lower error that can be the key', { lower: ['l*h-1', 'l*3', 'l*h/3'] }, /not lower than the key/],
  ['a higher error that can be lower', { higher: ['l*h*2', 'l*4', 'l*h*3'] }, /not higher than the key/],
  ['equal errors', { lower: ['l*h-1', 'l*h-1', 'l*h/3'] }, /two results are equal/],
  ['a negative error', { lower: ['l*h-7', 'l*h/2', 'l*h/3'] }, /zero or negative/],
  ['two lower errors', { lower: ['l*h-1', 'l*h/2'] }, /2 lower and 3 higher errors/],
  [
    'a variable that the stem does not show',
    { values: { ...calculation.values, n: [1, 2] } },
    /does not contain \{n\}/,
  ],
] as const) {
  test(`a calculation fails its checks with ${name}`, () => {
    assert.match(checkCalculation({ ...calculation, ...changes } as StoredCalculation, stems).join('\n'), pattern)
  })
}
