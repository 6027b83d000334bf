/**
 * Measures the extraction of skills from text, in megabytes of text per second with 50,000 names and aliases, including offsets,
 * overlaps, negation and scores. Compared with Aho-Corasick packages, which only find the same 50,000 strings.
 */
import type { SkillEntry } from '../server/catalogue/index/labels/labels.ts'
import { buildSkillIndexSync } from '../server/catalogue/index/skill-index.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'
import {
  bytesInUse,
  catalogue,
  hasSharedData,
  importOptional,
  randomNumbers,
  sharedFile,
} from './support/skill-catalogues.ts'

/** The maximum length of a text in the API. */
const TEXT_LENGTH = 50_000
/** Our passes over the texts per round, which take about as long as one pass of a package. */
const OUR_PASSES_PER_ROUND = 5

interface Sizes {
  labels: number
  texts: number
  rounds: number
  repetitions: number
}

const FULL: Sizes = { labels: 50_000, texts: 20, rounds: 12, repetitions: 15 }
const SHORT: Sizes = { labels: 5_000, texts: 3, rounds: 1, repetitions: 2 }

export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  const entries = withLabels(sizes.labels)
  const labels = entries.flatMap(({ name, aliases }) => [name, ...aliases])
  const texts = createTexts(labels, sizes.texts)

  const before = await bytesInUse()
  const index = buildSkillIndexSync(entries)
  const megabytes = ((await bytesInUse()) - before) / 1e6
  const packages = await peers(labels)
  const [ours, ...theirs] = measureInTurns(texts, sizes.rounds, [
    (text) => index.extract(text, 100),
    ...packages.map(({ search }) => search),
  ])
  const rows: BenchmarkRow[] = [
    {
      name: 'extract',
      value: ours!,
      unit: 'MB/s',
      note: `${labels.length.toLocaleString('en')} names and aliases; target: at least 30`,
    },
    {
      name: 'extract, one text of 50,000 characters',
      value: slowestText(texts, index, sizes.repetitions),
      unit: 'ms',
      note: `the slowest of ${sizes.texts} texts, best of ${sizes.repetitions} repetitions`,
    },
    { name: 'memory', value: megabytes, unit: 'MB', note: 'including search and match' },
    ...packages.map(({ name }, i) => ({ name, value: theirs[i]!, unit: 'MB/s', note: 'mentions only' })),
  ]
  if (packages.length < PACKAGES.length)
    rows.push({ name: 'packages not installed', value: PACKAGES.length - packages.length, unit: '' })
  if (packages.length > 0)
    rows.push({
      name: 'compared with the best of them',
      value: ours! / Math.max(...theirs),
      unit: 'times',
      note: 'target: at least 4',
    })
  if (!hasSharedData)
    rows.push({
      name: 'real sentences',
      value: 0,
      unit: 'MB',
      note: 'shared data is missing: generated sentences instead',
    })
  return rows
}

const PACKAGES = ['modern-ahocorasick', 'ahocorasick']

type Reader = (text: string) => unknown

/** Loads the installed packages. */
async function peers(labels: string[]): Promise<{ name: string; search: Reader }[]> {
  const patterns = [...new Set(labels.map((label) => label.toLowerCase()))]
  const found: { name: string; search: Reader }[] = []
  for (const name of PACKAGES) {
    // biome-ignore lint/suspicious/noExplicitAny: the packages are optional, so their types cannot be relied on
    const Package = (await importOptional<any>(name))?.default
    const matcher = Package && new Package(patterns)
    if (matcher) found.push({ name, search: (text) => matcher.search(text.toLowerCase()) })
  }
  return found
}

/** Returns megabytes per second of each reader's best round. In turns, so that other load affects all equally. */
function measureInTurns(texts: string[], rounds: number, readers: Reader[]): number[] {
  const megabytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6
  const best = readers.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < rounds; round++)
    for (const [i, read] of readers.entries())
      for (let pass = 0; pass < (i === 0 ? OUR_PASSES_PER_ROUND : 1); pass++)
        best[i] = Math.min(
          best[i]!,
          milliseconds(() => texts.map(read)),
        )
  return best.map((ms) => (megabytes / ms) * 1000)
}

function slowestText(
  texts: string[],
  index: { extract(text: string, limit: number): unknown },
  repetitions: number,
): number {
  const best = (text: string) =>
    Math.min(...Array.from({ length: repetitions }, () => milliseconds(() => index.extract(text, 100))))
  return Math.max(...texts.map(best))
}

function milliseconds(work: () => unknown): number {
  const startedAt = performance.now()
  work()
  return performance.now() - startedAt
}

/** Returns random skills of the real catalogues with this number of names and aliases in total. */
function withLabels(count: number): SkillEntry[] {
  const random = randomNumbers(3)
  const entries: SkillEntry[] = []
  let labels = 0
  for (const entry of catalogue(count * 1.2).sort(() => random() - 0.5)) {
    const aliases = entry.aliases.slice(0, Math.max(0, count - labels - 1))
    if (labels >= count) break
    entries.push({ ...entry, aliases })
    labels += 1 + aliases.length
  }
  return entries
}

/** Creates texts of the maximum length: sentences of advertisements, and a skill of the catalogue in every fifth sentence. */
function createTexts(labels: string[], count: number): string[] {
  const random = randomNumbers(9)
  const sentences = hasSharedData
    ? sharedFile('eval/skillspan_dev.jsonl')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { tokens: string[] }).tokens.join(' '))
    : [
        'We are looking for someone who can',
        'you will work with our team on',
        'at least two years of experience in',
        'and a good hand for',
      ]
  return Array.from({ length: count }, () => {
    let text = ''
    while (text.length < TEXT_LENGTH) {
      const pick = random() < 0.8 ? sentences : labels
      text += `${pick[Math.floor(random() * pick.length)]}. `
    }
    return text.slice(0, TEXT_LENGTH)
  })
}

if (import.meta.main) await runFromCommandLine('skill-extract', run)
