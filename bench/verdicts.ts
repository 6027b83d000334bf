/**
 * Measures the errors of verdicts with simulated people: how often people who clearly lack a skill are verified, and the reverse, how
 * many questions it takes, how often two people are asked the same, and whether statistics find difficulties and faulty items. Fails if
 * a limit is exceeded. Peers: two of three items, which was the rule before, and three of five, a common one.
 */
import type { Response } from '../server/measurement/model.ts'
import {
  type Assumptions,
  askPerson,
  type CalibrationOptions,
  type CalibrationResult,
  converse,
  createItems,
  createPeople,
  fixedForm,
  keyPositions,
  maxExposure,
  measureVerdicts,
  minimumShare,
  type RetirementResult,
  SEQUENTIAL_TEST,
  type SimulatedForm,
  sharedStartRate,
  simulateCalibration,
  type TestRule,
  type VerdictRates,
} from '../test/support/verdict-simulation.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'

/** The highest accepted error rates of candidates' verdicts. */
const LIMITS = {
  falseVerified: 0.03,
  falseNotVerified: 0.03,
  inconclusive: 0.15,
  meanItems: 6,
  sharedStart: 0.05,
  exposure: 0.33,
  /** Exceeded by chance once in a thousand simulations, with nine degrees of freedom. */
  keyPositionChiSquare: 27.9,
  goodItemsRetired: 0.01,
}
const MIN_DIFFICULTY_CORRELATION = 0.9
/** The smallest accepted shares of planted faults that are found. With six items of a kind, one missed item is a sixth. */
const MIN_PLANTED_RETIRED = 0.95
const MIN_PLANTED_RETIRED_SHORT = 0.8

const POOL_SIZES = [24, 12]
const SEED = 'verdicts'
/** The limits of retirement were chosen with simulations of other seeds. */
const CALIBRATION_SEEDS = [SEED, 'second sample']
/** A leak that many people do not know about is found later. With these people after it, each item has about 310 responses. */
const PARTIAL_LEAK = { leakedShare: 0.6, peopleAfterLeak: 1500 }

/** Changes after which good items must not be retired. */
const CHANGES: [name: string, options: CalibrationOptions][] = [
  ['more able newcomers', { newcomers: { minAbility: 0 } }],
  ['less able newcomers', { newcomers: { maxAbility: 0 } }],
  ['newcomers with another language', { newcomers: { maxAbility: 2, difficultyDeviation: 0.3 } }],
  ['more able newcomers, items one logit easier', { newcomers: { minAbility: 0 }, difficultyShift: -1 }],
]

/** Assumptions of the measurement that may be wrong, each changed by itself. Reported without a limit. */
const OTHER_ASSUMPTIONS: [name: string, assumptions: Assumptions][] = [
  ['true discrimination 1.0', { discrimination: 1 }],
  ['true discrimination 2.0', { discrimination: 2 }],
  ['lay people guess with 0.40', { guessing: 0.4 }],
  ['difficulties as tagged', { difficultyError: 0 }],
  ['difficulties off by 0.8', { difficultyError: 0.8 }],
  ['all items 0.5 logits harder than tagged', { difficultyShift: 0.5 }],
  ['all items 0.5 logits easier than tagged', { difficultyShift: -0.5 }],
]

const PEERS: [name: string, rule: TestRule][] = [
  ['peer, 2 of 3 items (the earlier rule)', minimumShare(3, 0.6)],
  ['peer, 3 of 5 items (60 %)', minimumShare(5, 0.6)],
]

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const peopleCount = short ? 3000 : 20_000
  const people = createPeople(peopleCount, SEED)
  const note = `${peopleCount} people, abilities from -3 to 3`
  const rows: BenchmarkRow[] = []
  const exceeded: string[] = []
  const minPlantedRetired = short ? MIN_PLANTED_RETIRED_SHORT : MIN_PLANTED_RETIRED
  const limitedRow = (name: string, value: number, limit: number, unit = '', rowNote = note) => {
    rows.push({ name, value, unit, note: `${rowNote}; at most ${limit}` })
    if (value > limit) exceeded.push(`${name}: ${value.toFixed(4)}, at most ${limit}`)
  }
  const minimumRow = (name: string, value: number, limit: number, rowNote: string) => {
    rows.push({ name, value, unit: '', note: `${rowNote}; at least ${limit}` })
    if (value < limit) exceeded.push(`${name}: ${value.toFixed(4)}, at least ${limit}`)
  }
  const askAll = (
    rule: TestRule,
    poolSize: number,
    assumptions?: Assumptions,
    options?: { changesGuess: boolean },
  ): SimulatedForm[] => {
    // Several pools, so that the result does not depend on the true difficulties of a few items.
    const pools = Array.from({ length: 20 }, (_, pool) => createItems(poolSize, `${SEED} ${pool}`, assumptions))
    return people.map((person, index) => askPerson(person, pools[index % pools.length]!, rule, options))
  }
  const addRates = (name: string, { falseVerified, falseNotVerified, inconclusive, meanItems }: VerdictRates) =>
    rows.push(
      { name: `${name}: verified at θ ≤ -1.5`, value: falseVerified, unit: '' },
      { name: `${name}: not verified at θ ≥ 1.5`, value: falseNotVerified, unit: '' },
      { name: `${name}: inconclusive`, value: inconclusive, unit: '' },
      { name: `${name}: items`, value: meanItems, unit: 'per person' },
    )

  for (const poolSize of POOL_SIZES) {
    const forms = askAll(SEQUENTIAL_TEST, poolSize)
    const rates = measureVerdicts(people, forms)
    const pool = `pool of ${poolSize}`
    limitedRow(`${pool}: verified at θ ≤ -1.5`, rates.falseVerified, LIMITS.falseVerified)
    limitedRow(`${pool}: not verified at θ ≥ 1.5`, rates.falseNotVerified, LIMITS.falseNotVerified)
    limitedRow(`${pool}: inconclusive`, rates.inconclusive, LIMITS.inconclusive)
    limitedRow(`${pool}: items`, rates.meanItems, LIMITS.meanItems, 'per person')
    rows.push({
      name: `${pool}: verdicts on the right side of θ = 0`,
      value: rates.correctSide,
      unit: '',
      note: `mean stated confidence ${rates.meanConfidence.toFixed(3)}`,
    })
    for (const { from, verified, notVerified, inconclusive } of rates.bands)
      rows.push({
        name: `${pool}: verified at θ from ${from} to ${from + 1}`,
        value: verified,
        unit: '',
        note: `not verified ${notVerified.toFixed(3)}, inconclusive ${inconclusive.toFixed(3)}`,
      })
    addDrawRows(poolSize)
  }

  const differences = countConversationDifferences(short ? 200 : 2000)
  limitedRow('conversations that differ from the simulation', differences, 0, '', 'items, options, verdict, confidence')
  for (const count of [5, 3]) {
    const rates = measureVerdicts(people, askAll(fixedForm(count), 24))
    addRates(`student, ${count} items`, rates)
    const { from, verified } = rates.bands.at(-1)!
    rows.push({ name: `student, ${count} items: verified at θ from ${from} to ${from + 1}`, value: verified, unit: '' })
  }
  for (const [name, rule] of PEERS) addRates(name, measureVerdicts(people, askAll(rule, 24)))
  for (const [name, assumptions] of OTHER_ASSUMPTIONS)
    addRates(name, measureVerdicts(people, askAll(SEQUENTIAL_TEST, 24, assumptions)))
  const changesGuess = { changesGuess: true }
  addRates('people who change a guess', measureVerdicts(people, askAll(SEQUENTIAL_TEST, 24, {}, changesGuess)))
  addUnpilotedRows()
  addCalibrationRows()
  if (exceeded.length > 0) throw new Error(`limits are exceeded:\n${exceeded.join('\n')}`)
  return rows

  /** Measures the error rates with items that nobody has tried out, and whose quality differs widely. */
  function addUnpilotedRows(): void {
    const rules: [name: string, rule: TestRule][] = [
      ['unpiloted items', SEQUENTIAL_TEST],
      ['unpiloted items, student, 5 items', fixedForm(5)],
    ]
    for (const [name, rule] of rules) {
      const rates = measureVerdicts(people, askUnpiloted(rule))
      limitedRow(`${name}: verified at θ ≤ -1.5`, rates.falseVerified, LIMITS.falseVerified)
      limitedRow(`${name}: not verified at θ ≥ 1.5`, rates.falseNotVerified, LIMITS.falseNotVerified)
      rows.push(
        { name: `${name}: inconclusive`, value: rates.inconclusive, unit: '' },
        { name: `${name}: items`, value: rates.meanItems, unit: 'per person' },
        { name: `${name}: verified at θ from 2 to 3`, value: rates.bands.at(-1)!.verified, unit: '' },
      )
    }
    const fullWeight = (responses: readonly Response[]) =>
      responses.map(({ difficulty, isCorrect }) => ({ difficulty, isCorrect }))
    const peer: TestRule = {
      needsMore: (responses, available) => SEQUENTIAL_TEST.needsMore(fullWeight(responses), available),
      decide: (responses) => SEQUENTIAL_TEST.decide(fullWeight(responses)),
    }
    addRates('peer, unpiloted items with full weight', measureVerdicts(people, askUnpiloted(peer)))
    const changed = measureVerdicts(people, askUnpiloted(SEQUENTIAL_TEST, changesGuess))
    addRates('unpiloted items, people who change a guess', changed)
  }

  /** Asks everyone about one of many skills, because the items of one skill share a part of their quality. */
  function askUnpiloted(rule: TestRule, options?: { changesGuess: boolean }): SimulatedForm[] {
    const pools = Array.from({ length: 400 }, (_, pool) => createItems(12, `${SEED} ${pool}`, { isUnpiloted: true }))
    return people.map((person, index) => askPerson(person, pools[index % pools.length]!, rule, options))
  }

  /** Measures what people share who are asked about the same skill. */
  function addDrawRows(poolSize: number): void {
    const items = createItems(poolSize, SEED)
    const forms = people.map((person) => askPerson(person, items))
    const pool = `pool of ${poolSize}`
    limitedRow(`${pool}: pairs with the same first three items`, sharedStartRate(forms), LIMITS.sharedStart)
    if (poolSize === 24) limitedRow(`${pool}: highest exposure of an item`, maxExposure(forms), LIMITS.exposure)
    else rows.push({ name: `${pool}: highest exposure of an item`, value: maxExposure(forms), unit: '' })
    const { sameShare, chiSquare } = keyPositions(forms)
    rows.push({ name: `${pool}: pairs with the key of an item at the same position`, value: sameShare, unit: '' })
    limitedRow(`${pool}: dependence of key positions (chi-square)`, chiSquare, LIMITS.keyPositionChiSquare)
  }

  /** Returns how many conversations differ from the simulation of the measurement alone. */
  function countConversationDifferences(count: number): number {
    const items = createItems(24, SEED)
    return people.slice(0, count).filter((person) => {
      const [simulated, conversed] = [askPerson(person, items), converse(person, items)]
      return (
        JSON.stringify(simulated.items) !== JSON.stringify(conversed.items) ||
        simulated.verdict !== conversed.verdict ||
        Math.abs(simulated.confidence - conversed.confidence) > 0.001
      )
    }).length
  }

  function addCalibrationRows(): void {
    const [skills, peoplePerSkill] = short ? [6, 2000] : [20, 2500]
    for (const seed of CALIBRATION_SEEDS) {
      const { difficultyCorrelation, meanCorrelationWithinSkills, groups } = simulateCalibration(
        skills,
        peoplePerSkill / 2,
        seed,
      )
      minimumRow(
        `rank correlation of true and estimated difficulties (${seed})`,
        difficultyCorrelation,
        MIN_DIFFICULTY_CORRELATION,
        `${groups.good.items} items, 200 responses each`,
      )
      rows.push({
        name: `rank correlation within a skill, mean (${seed})`,
        value: meanCorrelationWithinSkills,
        unit: '',
        note: `${skills} skills`,
      })
      const { miskeyed, not_discriminating: flat, good } = groups
      minimumRow(`miskeyed items retired (${seed})`, miskeyed.retired, minPlantedRetired, describe(miskeyed))
      for (const [name, group] of leakedGroups(groups))
        minimumRow(`${name} leaked items retired (${seed})`, group.retired, minPlantedRetired, describe(group))
      rows.push({
        name: `items without discrimination retired (${seed})`,
        value: flat.retired,
        unit: '',
        note: describe(flat),
      })
      limitedRow(`good items retired (${seed})`, good.retired, LIMITS.goodItemsRetired, '', `${good.items} items`)
    }
    for (const seed of CALIBRATION_SEEDS) {
      const { groups } = simulateCalibration(skills, peoplePerSkill / 2, seed, PARTIAL_LEAK)
      const leaked = leakedGroups(groups)
      const items = leaked.reduce((sum, [, group]) => sum + group.items, 0)
      minimumRow(
        `leaked items retired, known to ${PARTIAL_LEAK.leakedShare * 100} % of people (${seed})`,
        leaked.reduce((sum, [, group]) => sum + group.retired * group.items, 0) / items,
        minPlantedRetired,
        leaked.map(([name, group]) => `${name}: ${describe(group)}`).join('; '),
      )
    }
    for (const [name, options] of CHANGES) {
      const { good } = simulateCalibration(skills / 2, peoplePerSkill / 2, SEED, options).groups
      limitedRow(`good items retired, ${name}`, good.retired, LIMITS.goodItemsRetired, '', `${good.items} items`)
    }
  }
}

function leakedGroups(groups: CalibrationResult['groups']): [name: string, group: RetirementResult][] {
  return [
    ['easy', groups.leaked_easy],
    ['medium', groups.leaked_medium],
    ['difficult', groups.leaked_difficult],
  ]
}

function describe({ items, medianResponses, reasons }: RetirementResult): string {
  const counts = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`)
  return [`${items} planted, median after ${medianResponses} responses`, ...counts].join('; ')
}

if (import.meta.main) await runFromCommandLine('verdicts', runBenchmark)
