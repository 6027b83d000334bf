import { advance, startConversation } from '../../server/conversation/conversation.ts'
import type { ConversationFlow } from '../../server/conversation/flow.ts'
import { verdictsOf } from '../../server/conversation/verdicts.ts'
import { restAbilities } from '../../server/measurement/ability.ts'
import { drawItem, KEY } from '../../server/measurement/form.ts'
import {
  estimateDifficulty,
  findRetirementReason,
  type ItemResponse,
  KEY_OPTION,
  type RetirementReason,
} from '../../server/measurement/item-statistics.ts'
import {
  type AuthorDifficulty,
  DISCRIMINATION,
  GUESSING_PROBABILITY,
  PRIOR_DIFFICULTIES,
  type Response,
} from '../../server/measurement/model.ts'
import { SeededRandom } from '../../server/measurement/seeded-random.ts'
import { MIN_ITEMS, needsMoreItems, type Verdict, weighResponses } from '../../server/measurement/sequential-test.ts'
import type { SkillItem } from '../../server/questions/skill-items.ts'

/**
 * Simulated people who answer items by the three-parameter logistic model, through the functions that real people's answers go through.
 * All parameters of people and items are assumptions: there are no field data yet.
 */

/** The true values of the simulated people and items, which the measurement does not know. */
export interface Assumptions {
  /** How sharply items separate people; the measurement assumes 1.5. */
  discrimination?: number
  /** Probability that a person who knows nothing chooses the key; the measurement assumes 0.25. */
  guessing?: number
  /** Standard deviation of an item's true difficulty around the author's tag, in logits. */
  difficultyError?: number
  /** How much harder than their tags all items are, in logits. */
  difficultyShift?: number
  /** Whether the items have not been piloted: their quality differs widely, from skill to skill and from item to item. */
  isUnpiloted?: boolean
}

export interface SimulatedItem extends SkillItem {
  trueDifficulty: number
  trueDiscrimination: number
  guessing: number
  fault?: PlantedFault
  /** The share of people who know the key of a leaked item beforehand. */
  leakedShare?: number
}

/** A miskeyed item has another right option than its key, a leaked one is known to many people after a while. */
type PlantedFault = 'miskeyed' | 'leaked' | 'not_discriminating'

const ITEMS_PER_POOL = 6
const DISTRACTORS = ITEMS_PER_POOL - 1
const DEFAULT_DIFFICULTY_ERROR = 0.4
const MAX_ABILITY = 3
/** The abilities of people who clearly have the skill begin here; those of people who clearly do not end at its negative. */
const CLEAR_ABILITY = 1.5

/** Creates the items of a skill in pools of six, as in the bank: a third of them has each difficulty. */
export function createItems(count: number, seed: string, assumptions: Assumptions = {}): SimulatedItem[] {
  const { discrimination = DISCRIMINATION, guessing = GUESSING_PROBABILITY, difficultyShift = 0 } = assumptions
  const difficultyError = assumptions.difficultyError ?? DEFAULT_DIFFICULTY_ERROR
  const random = new SeededRandom(`items ${seed}`)
  if (assumptions.isUnpiloted) {
    const skill: SkillQuality = {
      discrimination: 1.2 * Math.exp(0.2 * normal(random)),
      guessing: 0.25 + 0.2 * uniform(random),
      difficultyShift: 0.4 * normal(random),
    }
    return createItems(count, seed).map((item) => ({
      ...item,
      ...unpilotedQuality(item, random, skill),
      isUnpiloted: true,
    }))
  }
  return Array.from({ length: count }, (_, index) => {
    const difficulty = PRIOR_DIFFICULTIES[((index % 3) + 1) as AuthorDifficulty]
    const pool = Math.floor(index / ITEMS_PER_POOL)
    const options = Array.from({ length: ITEMS_PER_POOL }, (_, option) => `option ${option}`)
    return {
      id: `item ${index}`,
      pool: `pool ${pool}`,
      kind: `kind ${pool}`,
      difficulty,
      texts: { en: { stem: `Stem ${index}?`, options } },
      trueDifficulty: difficulty + difficultyShift + difficultyError * normal(random),
      trueDiscrimination: discrimination,
      guessing,
    }
  })
}

/** The quality that all unpiloted items of a skill share, because the same author or the same model wrote them. */
interface SkillQuality {
  discrimination: number
  guessing: number
  difficultyShift: number
}

const UNPILOTED_FLAT_SHARE = 0.05

/**
 * Returns the true values of an item that has not been piloted. Authors are assumed to write items that discriminate less than those of
 * the bank (1.2 on average, and 0.6 to 2.4 for most items), that can be guessed with a probability from 0.25 to 0.45, and whose
 * difficulty is off by 0.8, half of it for the whole skill. One in twenty does not discriminate at all.
 */
function unpilotedQuality(item: SimulatedItem, random: SeededRandom, skill: SkillQuality): Partial<SimulatedItem> {
  return {
    trueDifficulty: item.difficulty + skill.difficultyShift + 0.7 * normal(random),
    trueDiscrimination: skill.discrimination * Math.exp(0.25 * normal(random)),
    guessing: Math.max(0.2, skill.guessing + 0.05 * normal(random)),
    ...(uniform(random) < UNPILOTED_FLAT_SHARE ? { fault: 'not_discriminating' } : {}),
  }
}

export interface SimulatedPerson {
  ability: number
  seed: string
}

/** Creates people with abilities that are uniformly distributed, by default from -3 to 3. */
export function createPeople(
  count: number,
  seed: string,
  minAbility = -MAX_ABILITY,
  maxAbility = MAX_ABILITY,
): SimulatedPerson[] {
  const random = new SeededRandom(`people ${seed}`)
  return Array.from({ length: count }, (_, index) => ({
    ability: minAbility + uniform(random) * (maxAbility - minAbility),
    seed: `${seed} person ${index}`,
  }))
}

/**
 * Returns the option that a person chooses, by index in `options`. The choice depends on the person and the item only, so that the same
 * person gives the same answer in a conversation and in a simulation of the measurement alone.
 */
function choose(
  { ability, seed }: SimulatedPerson,
  item: SimulatedItem,
  options: readonly number[],
  isAfterLeak = false,
): number {
  const random = new SeededRandom(`${seed} answers ${item.id}`)
  // In a miskeyed item, the first distractor is right. If it is not shown, people guess.
  const rightOption = item.fault === 'miskeyed' ? 0 : KEY
  const rightIndex = options.indexOf(rightOption)
  if (rightIndex < 0) return random.below(options.length)
  const isCorrect = uniform(random) < trueProbability(ability, item, isAfterLeak)
  if (isCorrect) return rightIndex
  const wrongIndexes = options.map((_, index) => index).filter((index) => index !== rightIndex)
  return random.pick(wrongIndexes)!
}

/** Returns whether a person knows the right option of an item; otherwise, `choose` returns a guess. */
function knows({ ability, seed }: SimulatedPerson, item: SimulatedItem): boolean {
  const probability = trueProbability(ability, item, false)
  const guessing = item.fault === 'not_discriminating' ? probability : item.guessing
  return uniform(new SeededRandom(`${seed} answers ${item.id}`)) < (probability - guessing) / (1 - guessing)
}

const DEFAULT_LEAKED_SHARE = 0.95
const FLAT_PROBABILITY = 0.5

function trueProbability(ability: number, item: SimulatedItem, isAfterLeak: boolean): number {
  if (item.fault === 'not_discriminating') return FLAT_PROBABILITY
  const { guessing, trueDiscrimination, trueDifficulty } = item
  const probability = guessing + (1 - guessing) / (1 + Math.exp(-trueDiscrimination * (ability - trueDifficulty)))
  if (item.fault !== 'leaked' || !isAfterLeak) return probability
  return item.leakedShare! + (1 - item.leakedShare!) * probability
}

/** A person's answers about one skill. */
export interface SimulatedForm {
  items: { item: SimulatedItem; options: number[]; choice: number }[]
  verdict: Verdict
  confidence: number
}

/** Tells whether a test continues, and what its result is. */
export interface TestRule {
  needsMore: (responses: readonly Response[], available: number) => boolean
  decide: (responses: readonly Response[]) => { verdict: Verdict; confidence: number }
}

/** The rule of conversations with candidates. */
export const SEQUENTIAL_TEST: TestRule = { needsMore: needsMoreItems, decide: weighResponses }

/** A form with a fixed number of items that is weighed by the measurement model, as in assessments of students. */
export function fixedForm(items: number): TestRule {
  return { needsMore: (responses) => responses.length < items, decide: weighResponses }
}

/** A form with a fixed number of items and a minimum share of correct answers: the rule of many tests. */
export function minimumShare(items: number, share: number): TestRule {
  return {
    needsMore: (responses) => responses.length < items,
    decide: (responses) => {
      const correct = responses.filter(({ isCorrect }) => isCorrect).length
      return { verdict: correct >= items * share ? 'verified' : 'not_verified', confidence: Number.NaN }
    },
  }
}

/**
 * Asks a person the items of one skill. Draws them as a conversation does for its first skill. A person who `changesGuess` changes the
 * first guessed answer after which the test could have ended and continues. As in a conversation, one answer can be changed.
 */
export function askPerson(
  person: SimulatedPerson,
  items: readonly SimulatedItem[],
  rule: TestRule = SEQUENTIAL_TEST,
  { isAfterLeak = false, changesGuess = false }: { isAfterLeak?: boolean; changesGuess?: boolean } = {},
): SimulatedForm {
  const drawable = items.map(({ pool, kind }) => ({ pool, kind, distractorCount: DISTRACTORS }))
  const asked: number[] = []
  const form: SimulatedForm['items'] = []
  const responses: Response[] = []
  let canChange = changesGuess
  while (rule.needsMore(responses, items.length)) {
    const drawn = drawItem(drawable, asked, `${person.seed} skill 0`)!
    const item = items[drawn.item]!
    const choice = choose(person, item, drawn.options, isAfterLeak)
    asked.push(drawn.item)
    form.push({ item, options: drawn.options, choice })
    responses.push({
      difficulty: item.difficulty,
      isCorrect: drawn.options[choice] === KEY,
      isUnpiloted: item.isUnpiloted ?? false,
    })
    if (!canChange || responses.length < MIN_ITEMS || !rule.needsMore(responses, items.length)) continue
    if (knows(person, item)) continue
    canChange = false
    const random = new SeededRandom(`${person.seed} changes ${item.id}`)
    const newChoice = random.pick([0, 1, 2, 3].filter((option) => option !== choice))!
    form.at(-1)!.choice = newChoice
    responses.at(-1)!.isCorrect = drawn.options[newChoice] === KEY
  }
  return { items: form, ...rule.decide(responses) }
}

/** Asks a person by the state machine of conversations, which also draws the items. */
export function converse(person: SimulatedPerson, items: SimulatedItem[]): SimulatedForm {
  const flow: ConversationFlow = {
    methods: ['skill_verification'],
    languages: ['en'],
    company_name: 'Company',
    title: 'Job',
    enrichment: [],
    skills: [{ skill_id: 'sk_1', name: 'Skill', source: 'bank', items, languages: ['en'] }],
    interest: false,
  }
  const circumstances = { now: 0, channel: 'web' }
  let state = startConversation('en', true, person.seed)
  state = advance(state, flow, { kind: 'reply', value: 'yes' }, circumstances).state
  while (state.point.at === 'skills') {
    const { id, options } = state.skills[0]![state.point.item]!
    const item = items.find((candidate) => candidate.id === id)!
    const value = String(choose(person, item, options))
    state = advance(state, flow, { kind: 'reply', step: state.step, value }, circumstances).state
  }
  const [verdict] = verdictsOf(state, flow)
  if (!verdict || verdict.verdict === 'not_asked') throw new Error(`the conversation of ${person.seed} has no verdict`)
  return {
    items: state.skills[0]!.map(({ id, options, choice }) => ({
      item: items.find((candidate) => candidate.id === id)!,
      options,
      choice: choice!,
    })),
    verdict: verdict.verdict,
    confidence: verdict.confidence!,
  }
}

export interface VerdictRates {
  /** Share of people who clearly do not have the skill and are verified. */
  falseVerified: number
  /** Share of people who clearly have the skill and are not verified. */
  falseNotVerified: number
  inconclusive: number
  meanItems: number
  /** Share of verdicts that are on the right side of 0, over all abilities. */
  correctSide: number
  /** The mean confidence of these verdicts. */
  meanConfidence: number
  /** Shares by ability, in steps of one logit. */
  bands: { from: number; verified: number; notVerified: number; inconclusive: number }[]
}

export function measureVerdicts(people: readonly SimulatedPerson[], forms: readonly SimulatedForm[]): VerdictRates {
  const all = people.map(({ ability }, index) => ({ ability, form: forms[index]! }))
  const shareOf = (group: typeof all, verdict: Verdict) => share(group, ({ form }) => form.verdict === verdict)
  const decided = all.filter(({ form }) => form.verdict !== 'inconclusive')
  return {
    falseVerified: shareOf(
      all.filter(({ ability }) => ability <= -CLEAR_ABILITY),
      'verified',
    ),
    falseNotVerified: shareOf(
      all.filter(({ ability }) => ability >= CLEAR_ABILITY),
      'not_verified',
    ),
    inconclusive: shareOf(all, 'inconclusive'),
    meanItems: mean(forms.map(({ items }) => items.length)),
    correctSide: share(decided, ({ ability, form }) => ability > 0 === (form.verdict === 'verified')),
    meanConfidence: mean(decided.map(({ form }) => form.confidence)),
    bands: Array.from({ length: 2 * MAX_ABILITY }, (_, index) => {
      const from = index - MAX_ABILITY
      const group = all.filter(({ ability }) => ability >= from && ability < from + 1)
      return {
        from,
        verified: shareOf(group, 'verified'),
        notVerified: shareOf(group, 'not_verified'),
        inconclusive: shareOf(group, 'inconclusive'),
      }
    }),
  }
}

/** Returns the share of pairs of people whose first three items are the same, in any order. */
export function sharedStartRate(forms: readonly SimulatedForm[]): number {
  const counts = new Map<string, number>()
  for (const { items } of forms) {
    const start = items
      .slice(0, 3)
      .map(({ item }) => item.id)
      .sort()
      .join(' ')
    counts.set(start, (counts.get(start) ?? 0) + 1)
  }
  const pairs = (count: number) => (count * (count - 1)) / 2
  return [...counts.values()].reduce((sum, count) => sum + pairs(count), 0) / pairs(forms.length)
}

/** Returns the share of people who are asked the item that is asked most often. */
export function maxExposure(forms: readonly SimulatedForm[]): number {
  const counts = new Map<string, number>()
  for (const { items } of forms) for (const { item } of items) counts.set(item.id, (counts.get(item.id) ?? 0) + 1)
  return Math.max(...counts.values()) / forms.length
}

/**
 * Compares the position of the key for pairs of people who are asked the same item. Returns how often it is the same, and the
 * chi-square statistic of independence with nine degrees of freedom.
 */
export function keyPositions(forms: readonly SimulatedForm[]): { sameShare: number; chiSquare: number } {
  const table = Array.from({ length: 4 }, () => [0, 0, 0, 0])
  const waiting = new Map<string, number>()
  let pairs = 0
  for (const { items } of forms) {
    for (const { item, options } of items) {
      const position = options.indexOf(KEY)
      const other = waiting.get(item.id)
      if (other === undefined) waiting.set(item.id, position)
      else {
        table[other]![position]!++
        pairs++
        waiting.delete(item.id)
      }
    }
  }
  const rowSums = table.map((row) => row.reduce((sum, count) => sum + count, 0))
  const columnSums = table.map((_, column) => table.reduce((sum, row) => sum + row[column]!, 0))
  let chiSquare = 0
  for (const [row, counts] of table.entries())
    for (const [column, count] of counts.entries()) {
      const expected = (rowSums[row]! * columnSums[column]!) / pairs
      chiSquare += (count - expected) ** 2 / expected
    }
  return { sameShare: table.reduce((sum, row, index) => sum + row[index]!, 0) / pairs, chiSquare }
}

/** Groups of items whose statistics are reported. Leaks of easy items are the hardest to find, because most people chose the key before. */
type ItemGroup = 'miskeyed' | 'leaked_easy' | 'leaked_medium' | 'leaked_difficult' | 'not_discriminating' | 'good'

const ITEM_GROUPS: ItemGroup[] = [
  'miskeyed',
  'leaked_easy',
  'leaked_medium',
  'leaked_difficult',
  'not_discriminating',
  'good',
]

function groupOf({ fault, difficulty }: SimulatedItem): ItemGroup {
  if (fault !== 'leaked') return fault ?? 'good'
  return difficulty < 0 ? 'leaked_easy' : difficulty > 0 ? 'leaked_difficult' : 'leaked_medium'
}

export interface CalibrationResult {
  /** Spearman's rank correlation of true and estimated difficulties after 200 responses per item, over all skills. */
  difficultyCorrelation: number
  /** The mean of the correlations within each skill, which are lower, because items of one skill differ less. */
  meanCorrelationWithinSkills: number
  groups: Record<ItemGroup, RetirementResult>
}

export interface RetirementResult {
  items: number
  /** Share of the items that were retired. */
  retired: number
  /** Median number of responses until they were retired; for leaked items, after the leak. */
  medianResponses: number
  reasons: Partial<Record<RetirementReason, number>>
}

const CALIBRATED_ITEMS_PER_SKILL = 24
const CALIBRATION_RESPONSES = 200
/** Statistics are recomputed after this many responses. More checks would find faults earlier, and more false ones. */
const RESPONSES_PER_CHECK = 40

export interface CalibrationOptions extends Pick<Assumptions, 'discrimination' | 'guessing' | 'difficultyShift'> {
  /** The share of people who know the key of a leaked item. */
  leakedShare?: number
  /** The number of people after the leak; by default as many as before. */
  peopleAfterLeak?: number
  /** The people after the leak, if they differ from those before. */
  newcomers?: Newcomers
}

interface Newcomers {
  minAbility?: number
  maxAbility?: number
  /** Standard deviation, in logits, of the difference in difficulty that each item has for them, for example in another language. */
  difficultyDeviation?: number
}

/**
 * Collects responses to skills of 24 items and checks them for retirement again and again, as the statistics job does. In each skill,
 * one item is miskeyed, one does not discriminate, and one of each difficulty leaks. Discriminations of good items differ, too.
 */
export function simulateCalibration(
  skills: number,
  peopleBeforeLeak: number,
  seed: string,
  options: CalibrationOptions = {},
): CalibrationResult {
  const { leakedShare = DEFAULT_LEAKED_SHARE, peopleAfterLeak = peopleBeforeLeak, newcomers } = options
  const difficulties: { skill: number; trueDifficulty: number; estimate: number }[] = []
  const outcomes: { group: ItemGroup; reason?: RetirementReason; responses: number }[] = []
  for (let skill = 0; skill < skills; skill++) {
    const random = new SeededRandom(`${seed} calibration ${skill}`)
    const items = createItems(CALIBRATED_ITEMS_PER_SKILL, `${seed} ${skill}`, options)
    for (const item of items) item.trueDiscrimination *= Math.exp(0.2 * normal(random))
    plantFaults(random.shuffled(items), leakedShare)
    const people = createPeople(peopleBeforeLeak + peopleAfterLeak, `${seed} ${skill}`)
    const responses = new Map<string, TimedResponse[]>(items.map(({ id }) => [id, []]))
    collectResponses(responses, items, people.slice(0, peopleBeforeLeak), { isAfterLeak: false })
    if (newcomers) {
      const { minAbility, maxAbility, difficultyDeviation = 0 } = newcomers
      const theirItems = items.map((item) => ({
        ...item,
        trueDifficulty: item.trueDifficulty + difficultyDeviation * normal(random),
      }))
      const them = createPeople(peopleAfterLeak, `${seed} ${skill} newcomers`, minAbility, maxAbility)
      const language = difficultyDeviation > 0 ? 'hi' : 'en'
      collectResponses(responses, theirItems, them, { isAfterLeak: true, language })
    } else collectResponses(responses, items, people.slice(peopleBeforeLeak), { isAfterLeak: true })
    for (const item of items) {
      const itemResponses = responses.get(item.id)!
      if (!item.fault)
        difficulties.push({
          skill,
          trueDifficulty: item.trueDifficulty,
          estimate: estimateDifficulty(
            itemResponses.slice(0, CALIBRATION_RESPONSES).map(({ response }) => response),
            item.difficulty,
          ),
        })
      outcomes.push({ group: groupOf(item), ...retirement(item, itemResponses) })
    }
  }
  const resultOf = (group: ItemGroup): RetirementResult => {
    const groupOutcomes = outcomes.filter((outcome) => outcome.group === group)
    const retired = groupOutcomes.filter(({ reason }) => reason !== undefined)
    const reasons: RetirementResult['reasons'] = {}
    for (const { reason } of retired) reasons[reason!] = (reasons[reason!] ?? 0) + 1
    return {
      items: groupOutcomes.length,
      retired: retired.length / Math.max(1, groupOutcomes.length),
      medianResponses: median(retired.map(({ responses }) => responses)),
      reasons,
    }
  }
  return {
    difficultyCorrelation: correlationOf(difficulties),
    meanCorrelationWithinSkills: mean([...Map.groupBy(difficulties, ({ skill }) => skill).values()].map(correlationOf)),
    groups: Object.fromEntries(ITEM_GROUPS.map((group) => [group, resultOf(group)])) as CalibrationResult['groups'],
  }
}

/** Gives faults to the first items that fit: one is miskeyed, one does not discriminate, and one of each difficulty leaks. */
function plantFaults(items: readonly SimulatedItem[], leakedShare: number): void {
  const plant = (fault: PlantedFault, fits: (item: SimulatedItem) => boolean = () => true) => {
    const item = items.find((candidate) => !candidate.fault && fits(candidate))!
    item.fault = fault
    return item
  }
  plant('miskeyed')
  plant('not_discriminating')
  for (const difficulty of Object.values(PRIOR_DIFFICULTIES))
    plant('leaked', (item) => item.difficulty === difficulty).leakedShare = leakedShare
}

function correlationOf(difficulties: readonly { trueDifficulty: number; estimate: number }[]): number {
  return rankCorrelation(
    difficulties.map(({ trueDifficulty }) => trueDifficulty),
    difficulties.map(({ estimate }) => estimate),
  )
}

interface TimedResponse {
  response: ItemResponse
  isAfterLeak: boolean
}

/** Adds the responses of people to those of each item. */
function collectResponses(
  responses: Map<string, TimedResponse[]>,
  items: readonly SimulatedItem[],
  people: readonly SimulatedPerson[],
  { isAfterLeak, language = 'en' }: { isAfterLeak: boolean; language?: string },
): void {
  for (const person of people) {
    const form = askPerson(person, items, SEQUENTIAL_TEST, { isAfterLeak })
    const answers = form.items.map(({ item, options, choice }) => ({
      difficulty: item.difficulty,
      isCorrect: options[choice] === KEY,
    }))
    const abilities = restAbilities(answers)
    for (const [position, { item, options, choice }] of form.items.entries()) {
      const option = options[choice]!
      responses.get(item.id)!.push({
        response: {
          isCorrect: option === KEY,
          option: option === KEY ? KEY_OPTION : String(option),
          restAbility: abilities[position]!,
          seconds: 20,
          language,
        },
        isAfterLeak,
      })
    }
  }
}

/** Checks an item after every few responses until it is retired. Returns the reason, and how many responses that took. */
function retirement(
  { difficulty, fault }: SimulatedItem,
  responses: readonly TimedResponse[],
): { reason?: RetirementReason; responses: number } {
  const firstRelevant = fault === 'leaked' ? responses.findIndex(({ isAfterLeak }) => isAfterLeak) : 0
  for (let count = RESPONSES_PER_CHECK; count <= responses.length; count += RESPONSES_PER_CHECK) {
    const reason = findRetirementReason(
      responses.slice(0, count).map(({ response }) => response),
      difficulty,
    )
    if (reason) return { reason, responses: count - firstRelevant }
  }
  return { responses: responses.length }
}

/** Spearman's rank correlation. */
function rankCorrelation(first: readonly number[], second: readonly number[]): number {
  const [firstRanks, secondRanks] = [ranksOf(first), ranksOf(second)]
  const count = first.length
  const squares = firstRanks.reduce((sum, rank, index) => sum + (rank - secondRanks[index]!) ** 2, 0)
  return 1 - (6 * squares) / (count * (count ** 2 - 1))
}

function ranksOf(values: readonly number[]): number[] {
  const ranks: number[] = []
  const order = values.map((_, index) => index).sort((first, second) => values[first]! - values[second]!)
  for (const [rank, index] of order.entries()) ranks[index] = rank
  return ranks
}

const RESOLUTION = 1 << 30

function uniform(random: SeededRandom): number {
  return (random.below(RESOLUTION) + 0.5) / RESOLUTION
}

/** Returns a number from the standard normal distribution (Box and Muller 1958). */
function normal(random: SeededRandom): number {
  return Math.sqrt(-2 * Math.log(uniform(random))) * Math.cos(2 * Math.PI * uniform(random))
}

function share<T>(list: readonly T[], matches: (element: T) => boolean): number {
  return list.filter(matches).length / Math.max(1, list.length)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

function median(values: readonly number[]): number {
  return values.toSorted((first, second) => first - second)[Math.floor(values.length / 2)] ?? Number.NaN
}
