/**
 * Measures whether the measurement of skills makes replies slower: replies to questions about skills, for which an item is drawn and
 * answers are weighed, against replies to enrichment questions. The candidates of both kinds reply in turn on their page, each at the
 * same position of the conversation. A second group with enrichment questions shows how much two equal groups differ by chance.
 *
 * Only the latency decides whether the benchmark fails, because candidates notice it. The CPU time shows what the measurement costs: a
 * reply about a skill draws an item and weighs the answers, which an enrichment question does not.
 */
import { MIN_ITEMS } from '../server/measurement/sequential-test.ts'
import { MINUTE } from '../server/platform/clock.ts'
import type { TestApp } from '../test/support/app.ts'
import { inviteCandidates, keyIndex } from '../test/support/candidate.ts'
import { aCandidate, type CampaignPartner, createCampaignPartner } from '../test/support/partners.ts'
import { withTestApp } from './support/app.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  median,
  percentile,
  runFromCommandLine,
} from './support/benchmark.ts'

const ENRICHMENT_QUESTIONS = 10
/** Candidates who reply in turn. They are invited together, so that enrolment does not run between the replies of a round. */
const CANDIDATES_PER_ROUND = 5
/** The wrong answer makes the test longer than four items, so that the later ones are drawn during the conversation. */
const WRONG_ITEM = 1
const MAX_LATENCY_RATIO = 1.05

type Candidate = Awaited<ReturnType<typeof inviteCandidates>>[number]
const groups = ['enrichment', 'control', 'skills'] as const
type Group = (typeof groups)[number]

const GROUP_NAMES: Record<Group, string> = {
  enrichment: 'reply to an enrichment question',
  control: 'reply to an enrichment question, control',
  skills: 'reply to a question about a skill',
}

interface TimedReply {
  group: Group
  round: number
  /** The number of earlier replies after the consent. */
  position: number
  /** The position of the item among those about the skill; undefined for enrichment questions. */
  item: number | undefined
  isLast: boolean
  wallMs: number
  /** CPU time of this process: of the server and of the client. PostgreSQL is not included. */
  cpuMs: number
}

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const rounds = short ? 2 : 60
  const replies = await withTestApp((app) => measureReplies(app, rounds))
  return summarize(replies, short)
}

async function measureReplies(app: TestApp, rounds: number): Promise<TimedReply[]> {
  const partner = await createCampaignPartner(app, { credits: 100_000, peoplePerDay: 100_000 })
  const mandateIds = await createMandates(partner)
  const replies: TimedReply[] = []
  // The first round compiles the code and fills the caches.
  for (let round = 0; round <= rounds; round++) {
    const timedReplies = await runRound(app, partner, mandateIds, round)
    if (round > 0) replies.push(...timedReplies)
  }
  return replies
}

async function createMandates(partner: CampaignPartner): Promise<Record<Group, string>> {
  const createEnrichment = async () => {
    const questions = Array.from({ length: ENRICHMENT_QUESTIONS }, (_, index) => ({
      key: `question_${index}`,
      type: 'yes_no' as const,
      text: `Have you worked with the tools of list ${index + 1} for at least a year?`,
    }))
    const { mandate_id } = await partner.createMandate(
      { default_methods: ['data_enrichment'] },
      { skills: [], enrichment_questions: questions },
    )
    return mandate_id
  }
  const skills = ['sk_2001', 'sk_2005'].map((skill_id) => ({ skill_id, verify: true }))
  const { mandate_id } = await partner.createMandate(
    { default_methods: ['skill_verification'] },
    { skills, enrichment_questions: [] },
  )
  return { enrichment: await createEnrichment(), control: await createEnrichment(), skills: mandate_id }
}

async function runRound(
  app: TestApp,
  partner: CampaignPartner,
  mandateIds: Record<Group, string>,
  round: number,
): Promise<TimedReply[]> {
  const invite = (group: Group) =>
    inviteCandidates(
      app,
      partner,
      mandateIds[group],
      Array.from({ length: CANDIDATES_PER_ROUND }, (_, index) =>
        aCandidate(10_000 * (groups.indexOf(group) + 1) + CANDIDATES_PER_ROUND * round + index, { language: 'en' }),
      ),
    )
  const waiting: { group: Group; candidate: Candidate }[] = []
  for (const group of groups) for (const candidate of await invite(group)) waiting.push({ group, candidate })
  for (const { candidate } of waiting) await candidate.page.reply({ value: 'yes' })

  const replies: TimedReply[] = []
  let open = waiting
  for (let position = 0; open.length > 0; position++) {
    // The rate limits of the page count per minute.
    app.clock.advance(MINUTE)
    // Another group is first each time.
    const order = groups.map((_, index) => groups[(index + position) % groups.length]!)
    const byGroup = Map.groupBy(open, ({ group }) => group)
    open = []
    for (let index = 0; index < CANDIDATES_PER_ROUND; index++)
      for (const group of order) {
        const entry = byGroup.get(group)?.[index]
        if (!entry) continue
        const timedReply = await sendReply(entry.candidate, { group, round, position })
        replies.push(timedReply)
        if (!timedReply.isLast) open.push(entry)
      }
  }
  return replies
}

async function sendReply(
  { page, getCandidacy }: Candidate,
  fields: Pick<TimedReply, 'group' | 'round' | 'position'>,
): Promise<TimedReply> {
  const { state } = await getCandidacy()
  const item = state.point.at === 'skills' ? state.point.item : undefined
  const value = item === undefined ? 'yes' : String(item === WRONG_ITEM ? (keyIndex(state)! + 1) % 4 : keyIndex(state)!)
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const { status } = await page.reply({ value })
  const wallMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuBefore)
  return { ...fields, item, isLast: status !== 'open', wallMs, cpuMs: (user + system) / 1000 }
}

function summarize(replies: TimedReply[], isShort: boolean): BenchmarkRow[] {
  const rows: BenchmarkRow[] = []
  for (const group of groups) {
    const questions = replies.filter((reply) => reply.group === group && isCompared(reply))
    const ends = replies.filter((reply) => reply.group === group && reply.isLast)
    if (questions.length === 0 || ends.length === 0) throw new Error(`no candidate of the group ${group} has finished`)
    const wallMs = questions.map((reply) => reply.wallMs)
    rows.push(
      { name: `${GROUP_NAMES[group]}, median`, value: median(wallMs), unit: 'ms', note: `${questions.length} replies` },
      { name: `${GROUP_NAMES[group]}, 95th percentile`, value: percentile(wallMs, 0.95), unit: 'ms' },
      { name: `${GROUP_NAMES[group]}, CPU`, value: median(questions.map(({ cpuMs }) => cpuMs)), unit: 'ms' },
      { name: `${GROUP_NAMES[group]}, last reply`, value: median(ends.map((reply) => reply.wallMs)), unit: 'ms' },
    )
  }
  if (!replies.some(({ group, item }) => group === 'skills' && item !== undefined && item >= MIN_ITEMS))
    throw new Error(`no candidate was asked more than ${MIN_ITEMS} items, so no item was drawn during a conversation`)
  const latency = compareGroups(replies, 'skills', 'wallMs')
  rows.push(
    ratioRow('latency, skill / enrichment', latency, `at most ${MAX_LATENCY_RATIO}`),
    ratioRow('latency, control / enrichment', compareGroups(replies, 'control', 'wallMs'), 'noise'),
    ratioRow('CPU, skill / enrichment', compareGroups(replies, 'skills', 'cpuMs'), 'for information'),
    ratioRow('CPU, control / enrichment', compareGroups(replies, 'control', 'cpuMs'), 'noise'),
  )
  if (!isShort && latency.low > MAX_LATENCY_RATIO)
    throw new Error(
      `latency: replies about skills are slower by a factor of ${latency.ratio.toFixed(3)} (${describe(latency)})`,
    )
  return rows
}

function ratioRow(name: string, comparison: Comparison, remark: string): BenchmarkRow {
  return { name, value: comparison.ratio, unit: '', note: `${describe(comparison)}; ${remark}` }
}

/** Enrichment questions end earlier than those about skills, and later replies are slower because the conversation is longer. */
function isCompared({ position, isLast }: TimedReply): boolean {
  return !isLast && position < ENRICHMENT_QUESTIONS - 1
}

interface Comparison {
  ratio: number
  low: number
  high: number
}

/** Returns the ratio to the enrichment questions, as the geometric mean of the rounds, with a 95 % interval. */
function compareGroups(replies: TimedReply[], group: Group, measure: 'wallMs' | 'cpuMs'): Comparison {
  const rounds = Map.groupBy(replies.filter(isCompared), ({ round }) => round)
  const logRatios = [...rounds.values()].map((ofRound) => {
    const medianOf = (wanted: Group) =>
      median(ofRound.filter((reply) => reply.group === wanted).map((reply) => reply[measure]))
    return Math.log(medianOf(group) / medianOf('enrichment'))
  })
  const mean = logRatios.reduce((sum, each) => sum + each, 0) / logRatios.length
  const variance = logRatios.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (logRatios.length - 1)
  const margin = 1.96 * Math.sqrt(variance / logRatios.length)
  return { ratio: Math.exp(mean), low: Math.exp(mean - margin), high: Math.exp(mean + margin) }
}

function describe({ low, high }: Comparison): string {
  return `95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}`
}

if (import.meta.main) await runFromCommandLine('reply-latency', runBenchmark)
