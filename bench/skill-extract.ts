/**
 * Measures the extraction of skills from text, in megabytes of text per second with 50,000 names and aliases, including offsets,
 * overlaps, negation and scores. Compared with Aho-Corasick packages, which only find the same 50,000 strings. All times are processor time.
 *
 * These texts are repeated, so their clauses are in a cache. The last figures are about new texts, each used once, and phrases of `match`, each used once.
 */
import type { SkillEntry } from '../server/catalogue/index/labels/labels.ts'
import { buildSkillIndexSync } from '../server/catalogue/index/skill-index.ts'
import { readAdvertisements, readMarkedAdvertisements } from './support/advertisements.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  median,
  percentile,
  runFromCommandLine,
} from './support/benchmark.ts'
import {
  bytesInUse,
  createCatalogue,
  hasSharedData,
  importOptional,
  randomNumbers,
  readSharedFile,
} from './support/skill-catalogues.ts'

/** The maximum length of a text in the API. */
const MAX_TEXT_LENGTH = 50_000
/** Number of passes of our index over the texts per round. They take about as long as one pass of a package. */
const OUR_PASSES_PER_ROUND = 5

interface Sizes {
  labelCount: number
  textCount: number
  rounds: number
  repetitions: number
  /** Number of skills, texts and phrases of the measurements with new texts. */
  skillCount: number
  newTextCount: number
  newPhraseCount: number
}

const FULL: Sizes = {
  labelCount: 50_000,
  textCount: 20,
  rounds: 12,
  repetitions: 15,
  skillCount: 50_000,
  newTextCount: 100,
  newPhraseCount: 1_000,
}
const SHORT: Sizes = {
  labelCount: 5_000,
  textCount: 3,
  rounds: 1,
  repetitions: 2,
  skillCount: 3_000,
  newTextCount: 10,
  newPhraseCount: 50,
}
/** Further new texts and phrases come first and are not measured, so that the code is compiled. */
const WARM_UP_SHARE = 0.2

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  const entries = randomSkills(sizes.labelCount)
  const labels = entries.flatMap(({ name, aliases }) => [name, ...aliases])
  const texts = createTexts(labels, sizes.textCount)

  const bytesBefore = await bytesInUse()
  const index = buildSkillIndexSync(entries)
  const indexMegabytes = ((await bytesInUse()) - bytesBefore) / 1e6
  const loadedPackages = await loadPackages(labels)
  const [ourRate, ...packageRates] = measureInTurns(texts, sizes.rounds, [
    (text) => index.extract(text, 100),
    ...loadedPackages.map(({ search }) => search),
  ])
  const rows: BenchmarkRow[] = [
    {
      name: 'extract',
      value: ourRate!,
      unit: 'MB/s',
      note: `${labels.length.toLocaleString('en')} names and aliases; target: at least 30`,
    },
    {
      name: 'extract, one text of 50,000 characters',
      value: measureSlowestText(texts, index, sizes.repetitions),
      unit: 'ms',
      note: `the slowest of ${sizes.textCount} texts, best of ${sizes.repetitions} repetitions`,
    },
    { name: 'memory', value: indexMegabytes, unit: 'MB', note: 'including search and match' },
    ...loadedPackages.map(({ name }, i) => ({ name, value: packageRates[i]!, unit: 'MB/s', note: 'mentions only' })),
  ]
  if (loadedPackages.length < PACKAGE_NAMES.length)
    rows.push({ name: 'packages not installed', value: PACKAGE_NAMES.length - loadedPackages.length, unit: '' })
  if (loadedPackages.length > 0)
    rows.push({
      name: 'compared with the best package',
      value: ourRate! / Math.max(...packageRates),
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
  return [...rows, ...measureNewTexts(sizes)]
}

/** Measures texts and phrases that the index has not seen before. */
function measureNewTexts({ skillCount, newTextCount, newPhraseCount }: Sizes): BenchmarkRow[] {
  const index = buildSkillIndexSync(createCatalogue(skillCount))
  const texts = newTexts()
  const measuredTexts = takeAfterWarmUp(texts, newTextCount, (text) => index.extract(text, 100))
  const megabytes = measuredTexts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6
  const extractMs = measureMs(() => measuredTexts.map((text) => index.extract(text, 100)))
  const longText = texts.join('\n').slice(-MAX_TEXT_LENGTH)
  const longTextMs = measureMs(() => index.extract(longText, 100))
  const measuredPhrases = takeAfterWarmUp(newPhrases(), newPhraseCount, (phrase) => index.match(phrase, 10))
  const matchMs = measuredPhrases.map((phrase) => measureMs(() => index.match(phrase, 10)))
  const note = `${skillCount.toLocaleString('en')} skills, ${measuredTexts.length} texts, each used once; target: at least 10`
  return [
    { name: 'extract, new texts', value: megabytes / (extractMs / 1000), unit: 'MB/s', note },
    { name: 'extract, one new text of 50,000 characters', value: longTextMs, unit: 'ms' },
    {
      name: 'match, new phrases, median',
      value: median(matchMs),
      unit: 'ms',
      note: `${measuredPhrases.length.toLocaleString('en')} phrases, each used once; target: at most 3`,
    },
    {
      name: 'match, new phrases, 99th percentile',
      value: percentile(matchMs, 0.99),
      unit: 'ms',
      note: 'target: at most 10',
    },
  ]
}

/** Returns up to `count` items after the first ones, which are only used to compile the code. */
function takeAfterWarmUp(items: string[], count: number, use: (item: string) => unknown): string[] {
  const warmUpCount = Math.ceil(Math.min(items.length / 2, count * WARM_UP_SHARE))
  items.slice(0, warmUpCount).forEach(use)
  return items.slice(warmUpCount, warmUpCount + count)
}

/** Returns different advertisements: those of SkillSpan if they are available, then our own. */
function newTexts(): string[] {
  const texts = [...readAdvertisements(), ...readMarkedAdvertisements()].map(({ text }) => text)
  if (!hasSharedData) return texts
  const sentencesByText = Map.groupBy(readSkillSpanLines(), ({ idx }) => idx)
  const skillSpanTexts = Array.from(sentencesByText.values(), (lines) => lines.map(toSentence).join('\n'))
  return [...skillSpanTexts, ...texts]
}

/** Returns the different spans that are marked as skills, in random order. */
function newPhrases(): string[] {
  const phrases = new Set<string>()
  for (const { text, marks } of readMarkedAdvertisements())
    for (const { start, end } of marks) phrases.add(text.slice(start, end))
  const random = randomNumbers(5)
  return [...phrases].sort(() => random() - 0.5)
}

interface SkillSpanLine {
  /** Number of the advertisement. */
  idx: number
  tokens: string[]
}

function readSkillSpanLines(): SkillSpanLine[] {
  return readSharedFile('eval/skillspan_dev.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SkillSpanLine)
}

const toSentence = ({ tokens }: SkillSpanLine): string => tokens.join(' ')

const PACKAGE_NAMES = ['modern-ahocorasick', 'ahocorasick']

type TextSearch = (text: string) => unknown

/** Loads the Aho-Corasick packages that are installed. */
async function loadPackages(labels: string[]): Promise<{ name: string; search: TextSearch }[]> {
  const patterns = [...new Set(labels.map((label) => label.toLowerCase()))]
  const loadedPackages: { name: string; search: TextSearch }[] = []
  for (const name of PACKAGE_NAMES) {
    // biome-ignore lint/suspicious/noExplicitAny: the packages are optional, so their types cannot be relied on
    const Package = (await importOptional<any>(name))?.default
    const matcher = Package && new Package(patterns)
    if (matcher) loadedPackages.push({ name, search: (text) => matcher.search(text.toLowerCase()) })
  }
  return loadedPackages
}

/**
 * Returns the megabytes of text per second in the best round of each search. They take turns, so that other load affects all
 * equally.
 */
function measureInTurns(texts: string[], rounds: number, searches: TextSearch[]): number[] {
  const megabytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6
  const bestMs = searches.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < rounds; round++)
    for (const [i, search] of searches.entries())
      for (let pass = 0; pass < (i === 0 ? OUR_PASSES_PER_ROUND : 1); pass++)
        bestMs[i] = Math.min(
          bestMs[i]!,
          measureMs(() => texts.map(search)),
        )
  return bestMs.map((ms) => (megabytes / ms) * 1000)
}

/** Returns the time in milliseconds for the slowest text. */
function measureSlowestText(
  texts: string[],
  index: { extract(text: string, limit: number): unknown },
  repetitions: number,
): number {
  const bestMs = (text: string) =>
    Math.min(...Array.from({ length: repetitions }, () => measureMs(() => index.extract(text, 100))))
  return Math.max(...texts.map(bestMs))
}

/** Returns the processor time in milliseconds. Unlike the elapsed time, it does not count the waiting for other processes. */
function measureMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Returns random skills of the real catalogues with this number of names and aliases in total. */
function randomSkills(labelCount: number): SkillEntry[] {
  const random = randomNumbers(3)
  const entries: SkillEntry[] = []
  let addedCount = 0
  for (const entry of createCatalogue(labelCount * 1.2).sort(() => random() - 0.5)) {
    const aliases = entry.aliases.slice(0, Math.max(0, labelCount - addedCount - 1))
    if (addedCount >= labelCount) break
    entries.push({ ...entry, aliases })
    addedCount += 1 + aliases.length
  }
  return entries
}

/** Creates texts of the maximum length: sentences of advertisements, with a skill name in place of every fifth sentence. */
function createTexts(labels: string[], count: number): string[] {
  const random = randomNumbers(9)
  const sentences = hasSharedData
    ? readSkillSpanLines().map(toSentence)
    : [
        'We are looking for someone who can',
        'you will work with our team on',
        'at least two years of experience in',
        'and a good hand for',
      ]
  return Array.from({ length: count }, () => {
    let text = ''
    while (text.length < MAX_TEXT_LENGTH) {
      const phrases = random() < 0.8 ? sentences : labels
      text += `${phrases[Math.floor(random() * phrases.length)]}. `
    }
    return text.slice(0, MAX_TEXT_LENGTH)
  })
}

if (import.meta.main) await runFromCommandLine('skill-extract', runBenchmark)
